/// Dispatch when a more urgent grid may take SMs from another one.
///
/// An SM belongs to one grid at a time.  A grid begins when all that have blocks running are less
/// urgent: by whose turn it is, if there are time slices, then by the priority of its tenant.  It
/// is to have as many SMs as its waiting blocks fill; what it lacks is taken from the least urgent
/// grids, and the policy says how their blocks make room.  If SMs are shared, its blocks come one
/// by one as their places get free. An SM that nobody more urgent wants goes back: first the blocks
/// return that were saved there. Those of SMs that stay busy go where room is first, before blocks
/// that have not started: the SM is asked for one at a time, and gives what waits for no page
/// first. Source: 002, section II; 003, sections 3 and 4.1; preemption.md, sections 2, 6 and 7.
///
/// Simplified: without a policy that asks for the state of blocks, SMs are taken in the order of
/// their numbers; an SM that two grids share is not taken by a third.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "core/message/message.hpp"
#include "models/dispatch/gangs.hpp"
#include "models/dispatch/preemption/takeovers.hpp"
#include "models/dispatch/sharing/time_slices.hpp"
#include "models/dispatch/sm_mirrors.hpp"

namespace lockstep {

class PreemptingDispatch {
 public:
  /// What it shares with the dispatcher.
  struct Parts {
    DispatchedGrids& grids;
    SmMirrors& sms;
    std::vector<Link>& to_sms;
    const OccupancyLimits& limits;
  };
  PreemptingDispatch(const Takeovers::Setup& setup, const Parts& parts,
                     DispatchStatistics& statistics)
      : parts_(parts),
        statistics_(statistics),
        gangs_(parts.grids, parts.sms),
        slices_(setup.slice),
        takeovers_(setup, statistics),
        takes_whole_sms_(takeovers_.steps().take && !setup.in_parts) {}

  Takeovers& takeovers() { return takeovers_; }
  Time next_limit() const { return std::min(takeovers_.next_limit(), slices_.next()); }
  const std::vector<PreemptionRecord>& records() const { return takeovers_.records(); }

  /// Before a block goes out: grids that lack SMs take them from less urgent ones.  `views`: of all
  /// grids, in their order; they stay until the next call.
  void make_room(std::span<const GridView> views, Time now, Outbox& outbox);
  /// The most urgent grid that may have the SM and has something for it.
  std::optional<std::size_t> choose(std::uint32_t sm) const;
  /// The grid has the SM again.  True: its blocks that were saved there return before others go
  /// out.
  bool resume(DispatchedGrid& grid, std::uint32_t sm, Time now, Outbox& outbox);
  /// Blocks that busy SMs have saved return: one to this SM, or another SM is asked for one. False:
  /// neither.
  bool bring_back(DispatchedGrid& grid, std::uint32_t sm, bool stage, Time now, Outbox& outbox);
  /// The SM has saved one.
  void saved(DispatchedGrid& grid, const BlockSaved& saved, Time now);
  /// A block takes a place again; a slice of its tenant begins when all of them have got on.
  void returned(DispatchedGrid& grid, std::uint64_t block) const {
    if (slices_.any() && takeovers_.steps().save) grid.settling.push_back(block);
  }
  static void settled(DispatchedGrid& grid, std::uint64_t block) {
    std::erase(grid.settling, block);
  }
  /// An SM has been asked for one, and says which.
  void given(DispatchedGrid& grid, const BlockGiven& given, std::span<const std::byte> context);
  /// A block of the grid can go to the SM, or, `stage`, wait there.
  bool takes(std::uint32_t sm, const DispatchedGrid& grid, bool stage) const;
  /// One has gone there.
  void sent(std::uint32_t sm, const DispatchedGrid& grid, Time now);

  void status(const MessageHeader& message, Outbox& outbox);
  /// A block has given its place up; the record says what it did.
  void left(const PreemptionRecord& record) {
    count_use(record.block.sm, record.released);
    takeovers_.left(record);
  }
  void finished(const DispatchedGrid& grid, std::uint32_t sm, const BlockWork& work) {
    takeovers_.signals().block_ended(sm);
    takeovers_.back_off().block_ended(sm);
    if (takeovers_.steps().flush && !grid.aborted) takeovers_.finished(grid.launch, work);
  }
  void grid_stopped(const GridReference& stopped, Time now);
  /// The SM belongs to nobody when the grid, its owner, has nothing there any more.
  void release_if_empty(const DispatchedGrid& owner, std::uint32_t sm);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(slices_, takeovers_);
  }

 private:
  /// What is larger comes first: tenants whose turn it is, then priorities.
  using Urgency = std::pair<bool, std::uint32_t>;
  Urgency urgency_of(const GridView& grid) const {
    return {slices_.has_turn(grid.tenant), grid.priority};
  }
  Urgency urgency_of(const DispatchedGrid& grid) const {
    return {slices_.has_turn(TenantId(grid.launch.tenant)), grid.launch.priority};
  }
  void count_use(std::uint32_t sm, Time now) {
    takeovers_.count_use(sm, parts_.sms[sm].used, parts_.sms[sm].guests, now);
  }
  void sort_by_urgency();
  /// There is one grid, and no other has left anything to be done.
  bool is_alone() const;
  void make_room_for(const DispatchedGrid& grid, Time now, Outbox& outbox);
  /// The grid is ready and has begun, or may: whoever runs is less urgent.
  bool may_run(std::size_t grid) const;
  /// No SM makes room, and no block is on its way back.
  bool has_settled() const;
  /// The grid takes SMs back where its saved blocks wait, if a less urgent one has them.
  void reclaim(const DispatchedGrid& grid, Time now, Outbox& outbox);
  /// Whoever may have an SM next fits nowhere beside what blocks of another grid have left there:
  /// they return, to leave once more.
  void let_keepers_return(Time now, Outbox& outbox);
  /// What each of the victim's blocks keeps on chip.
  std::vector<BlockCommand> in_place_commands(std::uint32_t sm, const DispatchedGrid& victim,
                                              const DispatchedGrid& urgent) const;
  /// What the grid lacks for its waiting blocks: SMs, or places if it is to share them.
  std::uint64_t lacking(const DispatchedGrid& grid) const;
  /// Returns how many places of an SM the grid has for waiting blocks, free or about to be.
  std::uint64_t places_at(std::uint32_t sm, const DispatchedGrid& grid) const;
  /// The grid whose blocks the SM would have to give up for a more urgent one; nullptr: none.
  DispatchedGrid* victim_at(std::uint32_t sm, const Urgency& urgency) const;
  /// Places that are free for the grid, or that it has taken or may take.
  std::uint64_t obtainable(const DispatchedGrid& grid) const;
  /// Whether it is worth while to take SMs for the gang, and to keep them until all its places are
  /// there.
  bool may_gather(const DispatchedGrid& gang) const;
  /// Places for the grid where blocks of others still stand: who waits for them is not staged
  /// behind its own grid's blocks, which may wait for it.
  std::uint64_t coming(const DispatchedGrid& grid) const;
  bool may_stage(const DispatchedGrid& grid) const;
  /// Whether state that was left on chip leaves room for the grid.
  bool fits_beside(std::uint32_t sm, const DispatchedGrid& grid) const;
  /// Asks for the state of blocks on all SMs that the grid may take.
  void ask_status(const DispatchedGrid& urgent, Time now, Outbox& outbox);
  /// Whose blocks the SM may be told to give up for the grid now, or some more of them.
  DispatchedGrid* victim_for(std::uint32_t sm, const DispatchedGrid& urgent) const;
  /// The SMs, or some of their blocks, that are best to take for the grid.
  void take_best(const DispatchedGrid& urgent, Time now, Outbox& outbox);
  void take_places(const DispatchedGrid& urgent, std::vector<Takeovers::Offer> offers, Time now,
                   Outbox& outbox);
  /// The SM's blocks are told to make room.
  void take_sm(std::uint32_t sm, DispatchedGrid& victim, const DispatchedGrid& urgent,
               const SmRelease& release, Time now, Outbox& outbox);
  /// An SM that is shared goes back when the urgent grid has nothing there any more.
  void give_back_shared(Time now, Outbox& outbox);
  /// An SM saves its blocks and takes them back, if that is due.
  void send_signal(Time now, Outbox& outbox);
  /// Blocks that have been draining for too long go by other means, or stay: they may wait for
  /// flushed ones.
  void end_long_drains(Time now, Outbox& outbox);

  /// Beside the grid's blocks that are about to return there.
  bool has_room_beside_returning(std::uint32_t sm, const DispatchedGrid& grid) const;

  const Parts parts_;
  DispatchStatistics& statistics_;
  const Gangs gangs_;
  TimeSlices slices_;
  Takeovers takeovers_;
  const bool takes_whole_sms_;
  std::span<const GridView> views_;
  std::vector<std::size_t> by_urgency_;  ///< those that may run, the most urgent first
};

}  // namespace lockstep
