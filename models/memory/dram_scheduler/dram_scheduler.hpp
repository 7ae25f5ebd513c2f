#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "models/memory/dram/dram_banks.hpp"
#include "models/memory/dram/dram_queue.hpp"

namespace lockstep {

/// What a scheduler wants done at a cycle.  `column` and `row` are places in the queue.
struct DramChoice {
  static constexpr std::uint32_t none = DramEntry::none;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  std::uint32_t column = none;  ///< request whose column command issues now
  std::uint32_t row = none;     ///< request for which its bank's row is closed or opened now
  std::int64_t wake = never;    ///< if nothing is chosen: when it is worth asking again at the
                                ///< earliest, without a new request
};

/// Plug point `dram_scheduler`: which DRAM command goes next.
///
/// Contract: choose, do not change, what is in the queue; every request must be served in the end.
/// Choose only commands whose earliest cycle (see DramBanks) is not after `now`: a column command
/// for a request whose row is open, a row command for any other.  If both are chosen and the
/// channel has one command bus, the column command issues.  Depend on nothing but the arguments,
/// what the hooks told, and what serialize keeps; never on the addresses of objects.
/// Source: memory-interference.md, section 7.3.
class DramScheduler {
 public:
  virtual ~DramScheduler() = default;

  virtual DramChoice choose(const DramQueue& queue, const DramBanks& banks, std::int64_t now) = 0;

  /// A request took its place in the queue; a column command was issued for it; it was served.
  virtual void on_arrival(const DramQueue&, std::uint32_t /*place*/, std::int64_t /*now*/) {}
  virtual void on_column(const DramEntry&, std::int64_t /*now*/) {}
  virtual void on_served(const DramEntry&, std::int64_t /*now*/) {}
  /// True if an arrival may make older requests eligible (batches): choose() is then called again
  /// at every arrival.
  virtual bool arrivals_matter() const { return false; }

  virtual void serialize(Archive&) {}
};

using MakeDramScheduler = std::unique_ptr<DramScheduler> (*)(const PolicyChoice&);
const PolicyRegistry<MakeDramScheduler>& dram_schedulers();
/// For ParametersOf::policy.
const PolicyList& dram_scheduler_policies();
std::unique_ptr<DramScheduler> make_dram_scheduler(const PolicyChoice& choice);

// One line per implementation; each stands in the file of its name.
std::unique_ptr<DramScheduler> make_fcfs(const PolicyChoice&);
std::unique_ptr<DramScheduler> make_fr_fcfs(const PolicyChoice&);
const ParameterSchema& fr_fcfs_parameters();

/// Earliest cycle of the next command that serves `entry`: a column command if its row is open,
/// otherwise precharge or activate.
inline std::int64_t earliest_command(const DramBanks& banks, const DramEntry& entry) {
  const std::uint32_t open = banks.open_row(entry.bank);
  if (open == entry.row) return banks.earliest_column(entry.bank, entry.write);
  return open == DramBanks::no_row ? banks.earliest_activate(entry.bank)
                                   : banks.earliest_precharge(entry.bank);
}

}  // namespace lockstep
