#pragma once

#include <cstdint>
#include <memory>

#include "core/checkpoint/archive.hpp"
#include "models/coordinator/epoch_policy.hpp"
#include "models/memory/dram/dram_banks.hpp"
#include "models/memory/dram/dram_queue.hpp"
#include "models/memory/partition_policy.hpp"

namespace lockstep {

/// Commands that a scheduler wants at a cycle.  `column` and `row` are places in the queue.
struct DramChoice {
  static constexpr std::uint32_t none = DramEntry::none;

  std::uint32_t column = none;  ///< request whose column command issues now
  std::uint32_t row = none;     ///< request for which a row is closed or opened now
  /// With nothing chosen: earliest cycle in which asking again may help without a new request.
  DramCycle wake = DramCycle::never();
};

/// Plug point `dram_scheduler`: it chooses the next DRAM command, and the requests that may wait in
/// the controller.
///
/// A scheduler may divide the queue into pools of places and into levels.  lane() names the pool
/// and level of a request; it is called again while the request waits for room, and when it enters.
///
/// Contract: choose requests of the queue without changing them; every request must be served in
/// the end. Choose only commands whose earliest cycle (see DramBanks) is not after `now`: a column
/// command for a request whose row is open, a row command for any other.  If both are chosen and
/// the channel has one command bus, the column command issues.  Depend only on arguments, on calls
/// of the hooks, and on the state in serialize; never on addresses of objects. A bank's requests of
/// a level, oldest first, are queue.oldest(bank, level), queue.younger(of that one), ...
/// Source: memory-interference.md, section 7.3.
class DramScheduler : public EpochPolicy {
 public:
  virtual DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) = 0;

  /// Hooks: a request took its place in the queue; a command for its row, then for its column, was
  /// issued; it was served.
  virtual void on_arrival(const DramQueue&, std::uint32_t /*place*/, DramCycle /*now*/) {}
  virtual void on_row(const DramQueue&, std::uint32_t /*place*/, DramBanks::Command,
                      DramCycle /*now*/) {}
  virtual void on_column(const DramQueue&, std::uint32_t /*place*/, DramCycle /*now*/) {}
  virtual void on_served(const DramQueue&, std::uint32_t /*place*/, DramCycle /*now*/) {}
  /// Returns whether an arrival may make older requests eligible (batches). If so, choose() is
  /// called again at every arrival, or when look_after_arrival() says.
  virtual bool arrivals_matter() const { return false; }
  virtual DramCycle look_after_arrival(DramCycle now) const { return now; }

  /// Returns whether a request continues without being chosen again after its first command, as
  /// long as it is its bank's oldest and no other bank has such a request. The hooks of such a
  /// scheduler are not called.
  virtual bool finishes_requests() const { return false; }

  virtual DramDivision division() const { return {}; }
  /// Returns the pool and level of a request. Called if the division is not trivial.
  virtual DramLane lane(const MemoryRequest&, bool /*write*/) const { return {}; }

  /// Returns whether `admits` decides which requests enter, and not the sizes of the queue alone.
  virtual bool decides_admission() const { return false; }
  /// Returns whether a request of the L2, or one that bypasses it, may enter now. A refused request
  /// waits where it is, holds up the requests behind it, and is tried again whenever a request has
  /// left. So an empty queue must admit every request, and a full one none.
  virtual bool admits(const DramQueue& queue, const MemoryRequest&, bool write) const {
    return queue.room(write);
  }

  virtual void serialize(Archive&) {}
};

/// Returns the need of a scheduler that follows what a cache policy finds out about warps.
PolicyNeed needs_hitting_warps();
/// Returns the need of a scheduler that follows the measures of a tlb_fill (EpochTopic::tlb_fill).
PolicyNeed needs_walk_measures();

using DramSchedulerFactory = PartitionPolicyFactory<DramScheduler>;
PolicyRegistry<DramSchedulerFactory>& dram_schedulers();
/// Returns the policies, for ParametersOf::policy.
const PolicyList& dram_scheduler_policies();
std::unique_ptr<DramScheduler> make_dram_scheduler(const PartitionPolicySetup& setup);

/// Returns the earliest cycle of the next command that serves `entry`: a column command if its row
/// is open, otherwise precharge or activate.
inline DramCycle earliest_command(const DramBanks& banks, const DramEntry& entry) {
  const std::uint32_t open = banks.open_row(entry.bank);
  if (open == entry.row) return banks.earliest_column(entry.bank, entry.write);
  return open == DramBanks::no_row ? banks.earliest_activate(entry.bank)
                                   : banks.earliest_precharge(entry.bank);
}

}  // namespace lockstep
