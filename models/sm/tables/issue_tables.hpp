/// Issue tables: facts about an instruction that issue needs, in one cache line beside the
/// instruction itself.
/// Source: hot-path.md, "Layouts that worked".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/isa/encode/idempotence.hpp"
#include "models/isa/program.hpp"
#include "models/sm/parameters/sm_parameters.hpp"
#include "models/sm/tables/precise_record.hpp"
#include "models/sm/tables/scoreboard.hpp"

namespace lockstep {

inline constexpr std::size_t unit_classes = static_cast<std::size_t>(isa::Unit::count);

/// A bit for each row of a warp's registers.
using RowMask = std::array<std::uint64_t, 4>;

struct alignas(64) IssueRecord {
  static constexpr std::uint8_t grouped =
      0xff;  ///< destinations beyond the first commit by a single event
  enum Flag : std::uint8_t {
    reads_identity = 1,  ///< the instruction reads a special register
    plain = 2,           ///< the instruction computes, with no lanes but its own
    ordered_before = 4,  ///< release: the warp first waits for acknowledgements
    ordered_after = 8,   ///< acquire: the warp waits for the value, then drops cached lines
    bypasses_l1 = 16,
    shared_only = 32,  ///< shared memory only, at 32-bit addresses from a register
    word_load = 64,    ///< load of one 32-bit register per lane
    computes_address =
        128,  ///< the instruction at `target` executes first: see deferred_values.hpp
  };
  Scoreboard needs;           ///< places that must have no pending results
  std::uint8_t unit = 0;      ///< executing unit, after substitution of absent ones
  std::uint8_t releases = 0;  ///< number of releases, or `grouped`
  std::uint8_t issue_slots = 1;
  std::uint8_t flags = 0;
  std::uint16_t latency = 0;   ///< cycles from issue to issue of a dependent instruction
  std::uint16_t interval = 0;  ///< cycles for which the unit is busy
  /// Events (without warp) by which the destinations commit.  An instruction with more destinations
  /// has the event of the first, then the number of the others among IssueTable::release_groups.
  std::array<std::uint16_t, 6> release{};
  /// Rows of the first operands, to be fetched into the cache early; a row may be listed twice.
  std::array<std::uint8_t, 4> touches{};
};
static_assert(sizeof(IssueRecord) == 64);

/// A kernel as the SM executes it.
struct IssueTable {
  std::vector<IssueRecord> records;  ///< record of each pc
  /// Instruction of each pc, then those that compute deferred values.
  std::vector<isa::Instruction> instructions;
  std::vector<isa::OperandList> operand_lists;
  /// Places of the scoreboard that an instruction with many destinations writes.
  std::vector<Scoreboard> release_groups;
  std::uint32_t rows = 0;  ///< register rows that the instructions name
  /// Rows read before they are written: they start as zero.
  std::vector<std::uint8_t> rows_read_first;
  /// Record of each pc, then those with more sources; see IssueDetail.
  std::vector<PreciseRecord> precise;
  /// Line of the code region, by pc; empty without instruction caches.
  std::vector<std::uint32_t> code_lines;
  isa::GlobalUse global_use;
  // If every register holds its value:
  std::uint32_t pair_rows = 0;     ///< rows below this number hold 64-bit values, two each
  std::vector<RowMask> live_rows;  ///< rows live before each pc
#ifndef NDEBUG
  std::vector<RowMask> divergent_rows;  ///< result of isa::divergent_rows
#endif

  /// Returns the places of the scoreboard that an instruction writes.
  Scoreboard written_by(const IssueRecord& record) const {
    Scoreboard places;
    const bool is_grouped = record.releases == IssueRecord::grouped;
    if (is_grouped) places = release_groups[record.release[1]];
    for (unsigned i = 0; i < (is_grouped ? 1u : record.releases); ++i)
      places.mark(record.release[i]);
    return places;
  }
};

/// Detail of the tables.
enum class IssueDetail : std::uint8_t {
  fast,     ///< values may be computed where they are used
  sources,  ///< values as with `fast`, with PreciseRecords
  precise,  ///< every register holds its value, so that instructions can be issued again
};

class IssueTables {
 public:
  IssueTables(const SmParameters& parameters, const std::vector<const isa::Module*>& modules,
              IssueDetail detail = IssueDetail::fast);
  const IssueTable& of(std::uint32_t module, std::uint32_t kernel) const {
    return tables_[module][kernel];
  }

 private:
  /// Places kernels one behind the other, each on lines of its own.
  void place_code(const SmParameters& parameters, IssueTable& issue);

  std::vector<std::vector<IssueTable>> tables_;
  std::uint32_t code_lines_ = 0;
};

/// Returns the tables for all SMs of a rank.
std::shared_ptr<const IssueTables> make_issue_tables(const SmParameters& parameters,
                                                     const std::vector<const isa::Module*>& modules,
                                                     IssueDetail detail = IssueDetail::fast);

}  // namespace lockstep
