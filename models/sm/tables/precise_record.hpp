/// Precise record: facts about an instruction that preemptible exceptions and the release of
/// sources need.
///
/// The record is separate from IssueRecord, which is full, and is made only for an SM that needs
/// it.
/// Source: 000, sections 3.1 to 3.3; virtual-memory-and-exceptions.md, sections 2.1 and 2.6.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/program.hpp"

namespace lockstep {

struct alignas(32) PreciseRecord {
  enum Flag : std::uint8_t {
    may_fault = 1,  ///< the instruction goes to the global-memory pipe, for all that fetch can tell
    /// The instruction orders memory for others: older accesses must be past their faults.
    waits_for_checks = 2,
    reads_late = 4,  ///< the instruction reads its sources in the operand read stage
  };
  /// Events (without warp) by which sources are released, see WarpEvent.
  std::array<std::uint16_t, 10> sources{};
  /// Number of a record with more sources, which follows the instructions' records; 0: none.
  std::uint16_t more = 0;
  std::uint8_t source_count = 0;
  std::uint8_t flags = 0;
  std::uint8_t log_entries = 0;  ///< entries in the operand log

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sources, more, source_count, flags, log_entries);
  }
};
static_assert(sizeof(PreciseRecord) == 32);

/// Returns a record for each instruction, then those with more sources.
std::vector<PreciseRecord> make_precise_records(const isa::Program& program);

}  // namespace lockstep
