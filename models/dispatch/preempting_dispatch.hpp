/// Dispatch when a more urgent grid may take SMs from another one.
///
/// An SM belongs to one grid at a time.  A grid begins when all grids that have blocks running are
/// less urgent: by whose turn it is, if there are time slices, then by the priority of the tenant.
/// The grid is to have as many SMs as its waiting blocks fill.  The SMs that it lacks are taken
/// from the least urgent grids, and the policy says how their blocks make room.  If SMs are shared,
/// the urgent grid's blocks come one by one as their places get free.  An SM that nobody more
/// urgent wants goes back; the blocks that were saved there return first.  Blocks saved at SMs that
/// stay busy go where room is first, before blocks that have not started: the dispatcher asks such
/// an SM for one block at a time, and it gives blocks that wait for no page first.
/// Source: 002, section II; 003, sections 3 and 4.1; preemption.md, sections 2, 6 and 7.
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
#include "models/noc/topology.hpp"

namespace lockstep {

class PreemptingDispatch {
 public:
  /// Parts that PreemptingDispatch shares with the dispatcher.
  struct Parts {
    DispatchedGrids& grids;
    SmMirrors& sms;
    std::vector<Link>& to_sms;
    const OccupancyLimits& limits;
    const Topology& topology;
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

  /// Lets grids that lack SMs take them from less urgent ones. Called before a block goes out.
  /// `views`: views of all grids, in their order; they stay valid until the next call.
  void make_room(std::span<const GridView> views, Time now, Outbox& outbox);
  /// Returns the most urgent grid that may have the SM and has something for it.
  std::optional<std::size_t> choose(std::uint32_t sm) const;
  /// Gives the SM back to the grid.  Returns true if blocks that were saved there return before
  /// others go out.
  bool resume(DispatchedGrid& grid, std::uint32_t sm, Time now, Outbox& outbox);
  /// Brings back blocks that busy SMs have saved: one to this SM, or another SM is asked for one.
  /// Returns false if neither happens.
  bool bring_back(DispatchedGrid& grid, std::uint32_t sm, bool stage, Time now, Outbox& outbox);
  /// The SM has saved a block.
  void saved(DispatchedGrid& grid, const BlockSaved& saved, Time now);
  /// Notes that a block takes a place again; a slice of its tenant begins when all such blocks make
  /// progress.
  void returned(DispatchedGrid& grid, std::uint64_t block) const {
    if (slices_.any() && takeovers_.steps().save) grid.settling.push_back(block);
  }
  static void settled(DispatchedGrid& grid, std::uint64_t block) {
    std::erase(grid.settling, block);
  }
  /// Handles the answer of an SM that was asked for a saved block.
  void given(DispatchedGrid& grid, const BlockGiven& given, std::span<const std::byte> context);
  /// Returns whether a block of the grid can go to the SM, or, `stage`, wait there.
  bool takes(std::uint32_t sm, const DispatchedGrid& grid, bool stage) const;
  /// A block of the grid has gone to the SM.
  void sent(std::uint32_t sm, const DispatchedGrid& grid, Time now);

  void status(const MessageHeader& message, Outbox& outbox);
  /// Notes that a block has given up its place. The record says why it left.
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
  /// Releases the SM when its owner, the grid, has no block there any more.
  void release_if_empty(const DispatchedGrid& owner, std::uint32_t sm);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(slices_, takeovers_);
  }

 private:
  /// Urgency of a grid; a larger value comes first: tenants whose turn it is, then priorities.
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
  /// Returns whether there is one grid, and no other grid has left work to be done.
  bool is_alone() const;
  void make_room_for(const DispatchedGrid& grid, Time now, Outbox& outbox);
  /// Returns whether the grid is ready and has begun, or may begin: grids that run are less urgent.
  bool may_run(std::size_t grid) const;
  /// Returns whether no SM makes room, and no block is on its way back.
  bool has_settled() const;
  /// Takes SMs back for a grid whose saved blocks wait there, if a less urgent grid has them.
  void reclaim(const DispatchedGrid& grid, Time now, Outbox& outbox);
  /// Restores the state that saved blocks of another grid keep on an SM, where the grid that may
  /// have the SM next does not fit beside it: these blocks return, and leave once more completely.
  void let_keepers_return(Time now, Outbox& outbox);
  /// Returns for each of the victim's blocks what it keeps on chip.
  std::vector<BlockCommand> in_place_commands(std::uint32_t sm, const DispatchedGrid& victim,
                                              const DispatchedGrid& urgent) const;
  /// Returns the number of SMs that the grid lacks for its waiting blocks, or of places if it
  /// shares SMs.
  std::uint64_t lacking(const DispatchedGrid& grid) const;
  /// Returns the number of blocks without a place in a cluster that finds room in one GPC.
  std::uint64_t blocks_without_cluster(const DispatchedGrid& grid, std::uint64_t blocks) const;
  /// Returns how many places of an SM the grid has for waiting blocks, free or about to be.
  std::uint64_t places_at(std::uint32_t sm, const DispatchedGrid& grid) const;
  /// Returns the grid whose blocks the SM would give up for a more urgent one; nullptr: none.
  DispatchedGrid* victim_at(std::uint32_t sm, const Urgency& urgency) const;
  /// Returns the number of places that are free for the grid, or are taken or may be taken for it.
  std::uint64_t obtainable(const DispatchedGrid& grid) const;
  /// Returns whether it is worthwhile to take SMs for the gang, and to keep them until all its
  /// places are there.
  bool may_gather(const DispatchedGrid& gang) const;
  /// Returns the number of places that the grid will get when blocks of others have left. A block
  /// that waits for such a place is not staged behind its own grid's blocks, which may wait for it.
  std::uint64_t coming(const DispatchedGrid& grid) const;
  bool may_stage(const DispatchedGrid& grid) const;
  /// Returns whether state that was left on chip leaves room for the grid.
  bool fits_beside(std::uint32_t sm, const DispatchedGrid& grid) const;
  /// Asks for the state of blocks on all SMs that the grid may take.
  void ask_status(const DispatchedGrid& urgent, Time now, Outbox& outbox);
  /// Returns the grid whose blocks (or further blocks) this SM should give up for `urgent`;
  /// nullptr: none.
  DispatchedGrid* victim_for(std::uint32_t sm, const DispatchedGrid& urgent) const;
  /// Takes the best SMs for the grid, or some of their blocks.
  void take_best(const DispatchedGrid& urgent, Time now, Outbox& outbox);
  void take_places(const DispatchedGrid& urgent, std::vector<Takeovers::Offer> offers, Time now,
                   Outbox& outbox);
  /// Tells the SM's blocks to make room.
  void take_sm(std::uint32_t sm, DispatchedGrid& victim, const DispatchedGrid& urgent,
               const SmRelease& release, Time now, Outbox& outbox);
  /// Gives back shared SMs on which the urgent grid has no block any more.
  void give_back_shared(Time now, Outbox& outbox);
  /// Makes an SM save its blocks and take them back, if a signal is due.
  void send_signal(Time now, Outbox& outbox);
  /// Ends drains that take too long: these blocks leave by other means, or go on, because they may
  /// wait for flushed blocks.
  void end_long_drains(Time now, Outbox& outbox);

  /// Returns whether the SM has room beside blocks of the grid that will soon return there.
  bool has_room_beside_returning(std::uint32_t sm, const DispatchedGrid& grid) const;

  const Parts parts_;
  DispatchStatistics& statistics_;
  const Gangs gangs_;
  TimeSlices slices_;
  Takeovers takeovers_;
  const bool takes_whole_sms_;
  std::span<const GridView> views_;
  std::vector<std::size_t> by_urgency_;  ///< grids that may run, the most urgent first
};

}  // namespace lockstep
