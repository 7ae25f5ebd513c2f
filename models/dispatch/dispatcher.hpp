/// The thread block scheduler: takes grids from the host, gives their blocks to SMs.
///
/// Blocks go out one per `block_interval` and cluster of SMs, SM after SM in turn, to SMs where the
/// sharing policy allows the grid and a block fits.  When no allowed SM has room, one more block is
/// staged at an SM, so that the place of a finished block is not empty for a round trip to the
/// dispatcher; the SM starts it when its resources are free, by the same arithmetic
/// (`BlockResources`).
/// Blocks that an SM saves to memory and restores are the SM's affair; it tells of both, so that
/// what is taken there is known here.  While it is busy with a more urgent grid it gives them away.
/// Cooperative grids start with all of their blocks: see gangs.hpp.  The blocks of a cluster start
/// at once in one GPC: see cluster_places.hpp; none of them is staged, and while the first cluster
/// that is next on an SM finds no room, that SM gets no block of another grid.  They also leave
/// together, and return or start again as they first started: see cluster_dispatch.cpp.  Other
/// grids begin beside the one before them in their stream: see dependents.hpp. With a `preemption`
/// more urgent grids take SMs from others: see preempting_dispatch.hpp; or, if SMs are shared,
/// those that come their parts: see partial_switching.hpp. A tenant's warp instructions are summed
/// up as its blocks are done; the host hears when they reach the tenant's `instructions:`. Source:
/// architecture.md, section 8 "Horizons and ranks" (staging), "Tenants"; gpu-parameters.md,
/// section 2.
///
/// Simplified: there is one dispatcher for the whole GPU. GPCs take turns, however many SMs each
/// has. Cost model: launch latency per grid, one block per interval, link latency to and from SMs.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "models/dispatch/cluster_places.hpp"
#include "models/dispatch/dependents.hpp"
#include "models/dispatch/dispatch_parameters.hpp"
#include "models/dispatch/dispatch_statistics.hpp"
#include "models/dispatch/gangs.hpp"
#include "models/dispatch/partial_switching.hpp"
#include "models/dispatch/preempting_dispatch.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/isa/program.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/noc/progress.hpp"
#include "models/noc/topology.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

class Dispatcher final : public Component, public ProgressSource {
 public:
  struct Setup {
    DispatchParameters parameters;
    Topology topology;
    OccupancyLimits limits;
    PolicyChoice sharing, preemption;
    bool switches_blocks = false;  ///< blocks may leave SMs for others
    PreemptionMachine preemption_machine;
    std::vector<Time> latency_bounds;  ///< bound of each tenant; never: none
    BlockProfile block_profile;  ///< durations of blocks, for a preemption that uses a profile
    SharingSetup machine;
    std::vector<std::uint64_t>
        instructions;  ///< instruction count of each tenant at which the host is told; 0: never
    std::vector<const isa::Module*> modules;
    Link to_host;
    std::vector<Link> to_sms;
  };
  explicit Dispatcher(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  std::string waiting_for() const override;
  void take_progress(Time now, std::span<std::uint8_t> tenants) override;
  bool finished() const override { return grids_.empty(); }
  /// Returns the blocks that made room for more urgent grids, in the order of their leaving.
  const std::vector<PreemptionRecord>& preemptions() const { return preempting_.records(); }

 private:
  using Grid = DispatchedGrid;

  void take(const MessageHeader& message, Outbox& outbox);
  void accept_grid(const GridLaunch& launch, std::span<const std::byte> payload, Time now);
  void block_done(const BlockDone& done, Time now, Outbox& outbox);
  void stores_done(const GridReference& reference, Time now, Outbox& outbox);
  /// Frees the place of a block that has left, except for the InPlace bits, or the place for which
  /// it waited. The record says why the block left.
  void place_is_free(Grid& grid, const PreemptionRecord& record, std::uint8_t keeps = 0);
  /// Notes that a block has left its SM; block_restored(): a block takes a place again.
  void block_saved(const BlockSaved& saved, Time now);
  void block_restored(const MessageHeader& message);
  /// A staged block has started.
  void block_started(const MessageHeader& message);
  /// A saved block is to return to another SM.
  void block_given(const MessageHeader& message, Outbox& outbox);
  using GridPlace = DispatchedGrids::iterator;
  /// Ends the tenant's blocks on SMs, and forgets its blocks that wait here.
  void abort_tenant(TenantId tenant, Time now, Outbox& outbox);
  /// Ends the blocks in hand of a grid whose tenant is ended.
  void drop_in_hand(GridPlace grid, Time now, Outbox& outbox);
  void count(TenantId tenant, const InstructionCount& executed, Time now, Outbox& outbox);
  void finish_grid(GridPlace place, Time now, Outbox& outbox);
  /// Sends at most one block, or cluster.  Returns the number of blocks sent; 0: no SM may take
  /// one.
  std::uint32_t dispatch_one(Time now, Outbox& outbox);
  std::uint32_t dispatch_to(std::uint32_t sm, bool stage, Time now, Outbox& outbox);
  /// Sends a block that has not started, or starts again.
  void send_block(Grid& grid, std::uint32_t sm, bool stage, Time now, Outbox& outbox);
  void send(Grid& grid, std::uint64_t block, std::uint32_t sm, bool stage, Time now,
            Outbox& outbox);
  /// Sends the blocks of the grid's next cluster.  Returns their number; 0: no GPC has room.
  std::uint32_t send_cluster(std::size_t grid, std::uint32_t sm, Time now, Outbox& outbox);
  /// Sends a saved block of a cluster back, as all blocks of the cluster.
  void send_saved(Grid& grid, const BlockInHand& saved, std::uint32_t sm, Time now, Outbox& outbox);
  /// An SM has given a saved block of a cluster.
  static void keep_of_cluster(Grid& grid, const BlockGiven& given,
                              std::span<const std::byte> context);
  void drop_saved_clusters(Grid& grid, Time now, Outbox& outbox);
  /// Sends the next block of a started gang to an SM where it has a place.
  bool gather(Grid& gang, Time now, Outbox& outbox);
  /// Returns whether the grid is a gang that has to wait for places.
  bool has_to_wait(std::size_t gang);
  /// Brings saved blocks of other grids back while a gang waits for places.
  bool bring_back_meanwhile(std::uint32_t sm, bool stage, Time now, Outbox& outbox);
  /// Returns the grid of which the SM gets a block next.
  std::optional<std::size_t> choose(std::uint32_t sm);
  void refresh_views(Time now);

  void block_returned(const BlockReference& block, Time now, Outbox& outbox);
  void block_flushed(const BlockDone& flushed, Time now, Outbox& outbox);
  /// The block is to go out again.
  void send_again(GridPlace grid, const BlockReference& block, bool was_flushed, Time now,
                  Outbox& outbox);
  Time until_next_block(std::uint32_t blocks, Time now);
  void sleep_until_ready(Time now);
  /// Returns when the front end begins with a launch that arrives now.
  Time begin_of(const GridLaunch& launch, Time now) const;
  void note_end(const GridLaunch& launch, Time now) {
    preempting_.takeovers().ended(launch);
    if (parameters_.launch_overlap) ends_[{launch.tenant, launch.stream}] = now;
  }

  const DispatchParameters parameters_;
  const Topology topology_;
  const OccupancyLimits limits_;
  const std::vector<std::uint64_t> instructions_;
  const std::vector<const isa::Module*> modules_;
  const Clock clock_;
  std::unique_ptr<Sharing> sharing_;
  Link to_host_;
  std::vector<Link> to_sms_;

  DispatchedGrids grids_;
  SmMirrors sms_;
  std::vector<InstructionCount> executed_;  ///< instructions of each tenant so far
  std::map<std::pair<std::uint16_t, std::uint16_t>, Time>
      ends_;  ///< last end time for each tenant and stream
  std::uint32_t next_sm_ = 0;
  Time next_dispatch_ = Time::zero();  ///< time from which the sender is free
  /// Time by which rounding made `next_dispatch_` later than its turn.
  Time beyond_turn_ = Time::zero();
  Time wake_ = Time::never();
  DispatchStatistics statistics_;
  std::vector<std::uint64_t> told_;  ///< progress of each tenant when last asked
  PreemptingDispatch preempting_;
  const bool preempts_;
  const bool in_parts_;  ///< SMs are shared and make room in part
  PartialSwitching partial_;
  const Gangs gangs_;
  const ClusterPlaces cluster_places_;
  const Dependents dependents_;
  std::vector<GridView> views_;       ///< scratch
  std::optional<std::size_t> waits_;  ///< scratch: a gang that has just found too few places
  /// scratch: grids whose clusters have just found too few places.
  std::vector<std::size_t> clusters_wait_;
};

}  // namespace lockstep
