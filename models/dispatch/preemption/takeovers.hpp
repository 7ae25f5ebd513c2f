/// Takeovers: SMs on their way from a less urgent grid to a more urgent one, with the commands to
/// their blocks, their durations and their costs.
///
/// A policy that uses the state of blocks decides when all SMs concerned have reported the state of
/// their blocks at one time: the question reaches them in the same cycle.  SMs that can be free
/// within the bound of the urgent tenant come first, ordered by lost work; then those that are free
/// soonest.
/// Source: 003, section 3.3, Algorithm 1; preemption.md, sections 7.3, 14 and 16.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/dispatch/dispatch_statistics.hpp"
#include "models/dispatch/preemption/back_off.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "models/dispatch/preemption/preemption_record.hpp"
#include "models/dispatch/preemption/preemption_signals.hpp"

namespace lockstep {

class Takeovers {
 public:
  struct Setup {
    PolicyChoice policy;
    PreemptionMachine machine;
    std::vector<Time> latency_bounds;  ///< bound of each tenant; never: none
    std::size_t sms = 0;
    Time slice = Time::never();  ///< time slice of Sharing
    bool in_parts = false;       ///< Sharing gives SMs in parts
    BlockProfile profile;        ///< durations of blocks, for a policy that uses a profile
  };
  Takeovers(const Setup& setup, DispatchStatistics& statistics);

  const PreemptionSteps& steps() const { return steps_; }

  // The state of blocks.
  bool is_asking() const { return asked_for_.has_value(); }
  bool is_asking_for(std::uint32_t grid) const {
    return asked_for_.has_value() && asked_for_->grid == grid;
  }
  void ask(const GridLaunch& urgent, std::size_t sms, Time now);
  /// Takes an SM's answer.  Returns whether all SMs have answered.
  bool answered(SmStatus status);
  /// Returns the grid for which SMs have been asked.
  const GridLaunch& asking_grid() const { return *asked_for_; }
  struct Victim {
    GridLaunch launch;
    std::uint64_t context_bytes = 0;    ///< context bytes of a block
    std::uint64_t launched_before = 0;  ///< grids that the tenant has launched before
  };
  struct Offer {
    std::uint32_t sm = 0;
    Victim victim;
    SmRelease release;
  };
  /// Returns the offers of the SMs that have answered, the best first: how each would become free.
  /// `victim_at(status)`: the grid that would leave the SM; nothing: the SM must no longer be
  /// taken.
  std::vector<Offer> offers(
      const std::function<std::optional<Victim>(const SmStatus&)>& victim_at) const;
  /// Lets blocks of a cluster leave together: none is flushed if one of them cannot be, as far as
  /// the answering SMs know.  `cluster_of(grid, block)`: number of the cluster; nothing: there is
  /// none.
  void unite_clusters(
      const std::function<std::optional<std::uint64_t>(std::uint32_t, std::uint64_t)>& cluster_of);
  void end_asking() {
    asked_for_.reset();
    answers_.clear();
  }

  // SMs that make room.
  bool is_stopping(std::uint32_t sm) const { return sms_[sm].stopping; }
  bool any_stopping() const {
    return std::any_of(sms_.begin(), sms_.end(), [](const Sm& sm) { return sm.stopping; });
  }
  /// Returns the grid for which the SM makes room; places_at() returns the number of its blocks
  /// that get a place.
  std::uint32_t urgent_at(std::uint32_t sm) const { return sms_[sm].urgent; }
  std::uint32_t places_at(std::uint32_t sm) const { return sms_[sm].places; }
  Technique others() const { return take_.others; }
  Time bound_of(const GridLaunch& grid) const { return latency_bounds_[grid.tenant]; }
  /// Returns how much of the bound is left since the grid first asked, if the grid asks again and
  /// again.
  Time bound_left(const GridLaunch& grid) const;
  /// Returns whether all blocks have left the SM that were to make room.
  bool is_released(std::uint32_t sm) const {
    return sms_[sm].stopping && sms_[sm].expected.empty();
  }
  /// Notes that no more blocks can make room at the SM for the urgent grid.
  void exhaust(std::uint32_t sm) { sms_[sm].exhausted = true; }
  bool is_exhausted(std::uint32_t sm) const { return sms_[sm].exhausted; }
  /// Begins a takeover: the blocks of `victim`, or some more of them, are told to make room.
  /// `release`: their commands, if their state was asked for.
  void begin(std::uint32_t sm, const GridLaunch& victim, const GridLaunch& urgent,
             const SmRelease& release, Time now);
  /// Notes that a block of an SM has given up its place; if it was to make room, the record is
  /// kept.
  void left(PreemptionRecord record);
  /// A saved or flushed block has a place again.
  void returned(std::uint32_t grid, std::uint64_t block, Time now);
  /// Notes that the urgent grid has got the requested places at the SM, or the first of them.
  void entered(std::uint32_t sm, Time now);
  /// Counts that the SM used `used` since the last call, or since the decision. Blocks make room
  /// until the urgent grid has all `places`, of which it already has `taken`.
  void count_use(std::uint32_t sm, const BlockResources& used, std::uint32_t taken, Time now);
  /// Ends the SM's takeover, because no block that was to make room is left there, or because none
  /// needs to leave any more.
  void end(std::uint32_t sm) { sms_[sm] = Sm{}; }
  /// Returns when the next SM has been draining for too long, or is to get a signal.
  Time next_limit() const;
  BackOff& back_off() { return back_off_; }
  const BackOff& back_off() const { return back_off_; }
  /// Gives an SM back whose draining blocks may wait for flushed ones; it is left alone for a
  /// while.
  void give_up(std::uint32_t sm, Time now) {
    const Time rest = longest_drain(sms_[sm], Time::zero());
    end(sm);
    back_off_.begin(sm, now, rest);
  }
  /// Lets blocks go on draining, because no block at the SM waits for flushed ones.
  void go_on_draining(std::uint32_t sm, Time now) {
    sms_[sm].limit = now + longest_drain(sms_[sm], Time::zero());
  }
  PreemptionSignals& signals() { return signals_; }
  Time signals_next() const { return signals_.next(); }
  /// An SM that has been draining for too long, with the next command for its blocks; overdue()
  /// returns each SM once.
  struct Overdue {
    std::uint32_t sm = 0;
    Technique others = Technique::save;
    std::vector<BlockCommand> commands;
  };
  std::vector<Overdue> overdue(Time now);

  void finished(const GridLaunch& grid, const BlockWork& work) {
    finished_[scope_of(grid)].add(work);
    if (steps_.ask && steps_.ask->by_lengths) lengths_[scope_of(grid)].add(work);
  }
  void ended(const GridLaunch& grid) {
    if (!by_launch_) return;
    finished_.erase(scope_of(grid));
    lengths_.erase(scope_of(grid));
  }
  /// Notes that a block has gone to memory: its kernel's history gets the bytes of partial
  /// contexts, and the duration of the save.
  void saved(const GridLaunch& grid, const BlockSaved& block, Time now);
  const std::vector<PreemptionRecord>& records() const { return records_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sms_, signals_, back_off_, finished_, lengths_, contexts_, asked_for_, answers_,
            awaited_, asked_at_, records_, records_of_away_, followed_);
    if (!archive.is_saving()) require_plan_as_followed();
  }

 private:
  struct Sm {
    bool stopping = false;
    std::uint32_t victim = 0, urgent = 0;  ///< numbers of the victim grid and the urgent grid
    TenantId tenant;                       ///< tenant of the urgent grid
    bool has_entered = false;
    std::uint32_t places = 0;
    Time asked, bound, limit = Time::never();
    Time told;     ///< time at which the blocks were last told to make room
    Time counted;  ///< time up to which use is counted
    bool exhausted = false;
    std::vector<SmRelease::Block> expected;  ///< blocks expected to leave, with their commands

    template <class Archive>
    void serialize(Archive& archive) {
      archive(stopping, victim, urgent, tenant, has_entered, places, asked, bound, limit, counted,
              exhausted, told, expected);
    }
  };
  /// Throws UserError if the plan says something else of a request that a restored run has
  /// followed.
  void require_plan_as_followed() const;
  /// Returns how long blocks of the SM may drain that are expected to drain for so long.
  Time longest_drain(const Sm& sm, Time expected) const;
  static std::uint32_t kernel_of(const GridLaunch& grid) {
    return std::uint32_t{grid.module} << 16 | grid.kernel;
  }
  /// Returns the key of the history for the grid's blocks: its launch, or its kernel.
  std::uint32_t scope_of(const GridLaunch& grid) const {
    return by_launch_ ? grid.grid : kernel_of(grid);
  }

  const std::unique_ptr<Preemption> policy_;
  const PreemptionSteps steps_;
  const PreemptionSteps::Take take_;  ///< value of `steps_.take`
  const bool by_launch_;              ///< true: finished blocks count only for their own launch
  const bool in_parts_;
  const PreemptionMachine machine_;
  const std::vector<Time> latency_bounds_;
  const BlockProfile profile_;
  DispatchStatistics& statistics_;
  std::vector<Sm> sms_;
  PreemptionSignals signals_;
  BackOff back_off_;
  std::map<std::uint32_t, KernelHistory> finished_;  ///< finished blocks, by scope_of
  /// Lengths of finished blocks, by scope_of, for a policy that uses them.
  std::map<std::uint32_t, BlockLengths> lengths_;
  std::map<std::uint32_t, ContextHistory> contexts_;  ///< saved contexts, by kernel_of
  std::optional<GridLaunch> asked_for_;
  std::vector<SmStatus> answers_;
  std::size_t awaited_ = 0;
  Time asked_at_;
  std::vector<PreemptionRecord> records_;
  /// Records of blocks that are to return, by grid and block.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> records_of_away_;
  /// Entries of the plan that have been followed, by urgent grid, for a policy that has a plan.
  std::map<std::uint32_t, PreemptionPlan::Request> followed_;
};

}  // namespace lockstep
