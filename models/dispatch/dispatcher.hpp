/// The thread block scheduler: takes grids from the host, gives their blocks to SMs.
///
/// Blocks go out one per `block_interval`, SM after SM in turn, to SMs where the sharing policy
/// allows the grid and a block fits.  When no allowed SM has room, one more block is staged at an
/// SM, so that the place of a finished block is not empty for a round trip to the dispatcher; the
/// SM starts it when its resources are free, by the same arithmetic (`BlockResources`).
/// Blocks that an SM saves to memory and restores are the SM's affair; it tells of both, so that
/// what is taken there is known here.
/// With a `preemption` more urgent grids take SMs from others: see preempting_dispatch.cpp.
/// A tenant's warp instructions are summed up as its blocks are done; the host hears when they
/// reach the tenant's `instructions:`.
/// Source: architecture.md, section 8 "Horizons and ranks" (staging), "Tenants"; gpu-parameters.md,
/// section 2.
///
/// Simplified: one dispatcher for the whole GPU, no hierarchy of clusters.
/// Cost model: launch latency per grid, one block per interval, link latency to and from SMs.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "models/dispatch/dispatch_parameters.hpp"
#include "models/dispatch/dispatch_statistics.hpp"
#include "models/dispatch/preemption/takeovers.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/isa/program.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

class Dispatcher final : public Component {
 public:
  struct Setup {
    DispatchParameters parameters;
    OccupancyLimits limits;
    PolicyChoice sharing, preemption;
    PreemptionMachine preemption_machine;
    std::vector<Time> latency_bounds;  ///< by tenant; never: none
    SharingSetup machine;
    std::vector<std::uint64_t>
        instructions;  ///< by tenant: told to the host when reached; 0: never
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
  bool finished() const override { return grids_.empty(); }
  /// Blocks that made room for more urgent grids, in the order in which they had.
  const std::vector<PreemptionRecord>& preemptions() const { return takeovers_.records(); }

 private:
  struct Grid {
    GridLaunch launch;
    std::vector<std::byte> payload;
    BlockResources block;
    Time ready;
    std::uint64_t blocks = 0;  ///< to be done: all, or those sent before its tenant was ended
    std::uint64_t next_block = 0, running = 0, done = 0;
    InstructionCount executed;
    bool aborted = false;                ///< its tenant was ended
    std::vector<bool> known_at;          ///< by SM: start_grid was sent
    std::deque<std::uint64_t> returned;  ///< blocks that were staged and are to go out again
    std::vector<bool> stopped_at;        ///< by SM: it was taken from the grid
    std::vector<std::uint32_t> away;     ///< by SM: blocks whose contexts it keeps in memory

    std::uint64_t waiting() const { return blocks - next_block + returned.size(); }
    std::uint64_t take_next() {
      if (returned.empty()) return next_block++;
      const std::uint64_t next = returned.front();
      returned.pop_front();
      return next;
    }

    template <class Archive>
    void serialize(Archive& archive);
  };
  struct Sm {
    BlockResources used;
    bool has_staged = false;
    BlockResources staged;
    std::uint32_t staged_grid = 0;
    std::uint64_t staged_block = 0;
    // With a preemption:
    std::optional<std::uint32_t> owner;  ///< the grid whose blocks are here
    std::uint32_t on_chip = 0;           ///< blocks, without the staged one
    std::optional<std::uint32_t> guest;  ///< a more urgent grid whose blocks come beside those
    std::uint32_t guests = 0;            ///< blocks of it
    SmPlaces places;                     ///< if SMs are shared

    template <class Archive>
    void serialize(Archive& archive) {
      archive(used, has_staged, staged, staged_grid, staged_block, owner, on_chip, guest, guests,
              places);
    }
  };

  void take(const MessageHeader& message, Outbox& outbox);
  void accept_grid(const GridLaunch& launch, std::span<const std::byte> payload, Time now);
  void block_done(const BlockDone& done, Time now, Outbox& outbox);
  /// A block has left its SM, or takes a place there again.
  void block_saved(const BlockSaved& saved, Time now);
  void block_restored(const BlockReference& block);
  using GridPlace = std::deque<Grid>::iterator;
  GridPlace grid_at(std::uint32_t number);
  /// A block of the grid has its part of the SM, or gives it back.
  void occupy(std::uint32_t sm, const Grid& grid, std::uint64_t block);
  void vacate(std::uint32_t sm, const Grid& grid, std::uint64_t block);
  /// The SM starts the block that is staged there, if there is room.
  void start_staged(std::uint32_t sm);
  /// SMs end the tenant's blocks; the dispatcher forgets those that wait.
  void abort_tenant(TenantId tenant, Time now, Outbox& outbox);
  void count(TenantId tenant, const InstructionCount& executed, Time now, Outbox& outbox);
  void finish_grid(GridPlace place, Time now, Outbox& outbox);
  /// Sends at most one block.  Returns false when no SM may take one.
  bool dispatch_one(Time now, Outbox& outbox);
  /// The first SM from `first` on at which no block waits; the number of SMs if there is none.
  std::uint32_t next_open(std::uint32_t first) const;
  void set_staged(std::uint32_t sm, bool staged);
  bool dispatch_to(std::uint32_t sm, bool stage, Time now, Outbox& outbox);
  void refresh_views(Time now);

  // Preemption.
  void sort_by_urgency();
  /// The grid is ready and has begun, or may: whoever runs is less urgent.
  bool may_run(std::size_t grid) const;
  /// The most urgent grid that may have the SM and has something for it.
  std::optional<std::size_t> choose_by_urgency(std::uint32_t sm) const;
  /// Grids that lack SMs take them from less urgent ones.
  void make_room(Time now, Outbox& outbox);
  /// What the grid lacks for its waiting blocks: SMs, or places if it is to share them.
  std::uint64_t lacking(const Grid& grid) const;
  /// The grid whose blocks the SM would have to give up for a more urgent one; nullptr: none.
  Grid* victim_at(std::uint32_t sm, std::uint32_t priority);
  /// Asks for the state of blocks on all SMs that the grid may take.
  void ask_status(const Grid& urgent, Time now, Outbox& outbox);
  void status(const MessageHeader& message, Outbox& outbox);
  /// The SMs, or some of their blocks, that are best to take for the grid.
  void take_best(Grid& urgent, Time now, Outbox& outbox);
  void take_places(Grid& urgent, std::vector<Takeovers::Offer> offers, Time now, Outbox& outbox);
  /// An SM that is shared goes back when the urgent grid has nothing there any more.
  void give_back_shared(Time now, Outbox& outbox);
  /// The SM's blocks are told to make room.
  void take_sm(std::uint32_t sm, Grid& victim, const Grid& urgent, const SmRelease& release,
               Time now, Outbox& outbox);
  /// Blocks that have been draining for too long go by other means.
  void end_long_drains(Time now, Outbox& outbox);
  bool resume(Grid& grid, std::uint32_t sm, Time now, Outbox& outbox);
  void block_returned(const BlockReference& block, Time now, Outbox& outbox);
  void block_flushed(const BlockDone& flushed, Time now, Outbox& outbox);
  /// The block is to go out again.
  void send_again(GridPlace grid, const BlockReference& block, Time now, Outbox& outbox);
  void grid_stopped(const GridReference& stopped, Time now);
  /// The SM belongs to nobody when the grid, its owner, has nothing there any more.
  void release_if_empty(const Grid& owner, std::uint32_t sm);

  void sleep_until_ready(Time now);

  const DispatchParameters parameters_;
  const OccupancyLimits limits_;
  const std::vector<std::uint64_t> instructions_;
  const std::vector<const isa::Module*> modules_;
  const Clock clock_;
  std::unique_ptr<Sharing> sharing_;
  Link to_host_;
  std::vector<Link> to_sms_;

  std::deque<Grid> grids_;  ///< not finished, in order of arrival
  std::vector<Sm> sms_;
  std::vector<std::uint64_t> open_;         ///< bit per SM: no block waits there for room
  std::vector<InstructionCount> executed_;  ///< by tenant
  std::uint32_t next_sm_ = 0;
  Time next_dispatch_ = Time::zero();  ///< the sender is free from here on
  Time wake_ = Time::never();
  DispatchStatistics statistics_;
  Takeovers takeovers_;
  std::vector<GridView> views_;          ///< scratch
  std::vector<std::size_t> by_urgency_;  ///< those that may run, the most urgent first; scratch
};

}  // namespace lockstep
