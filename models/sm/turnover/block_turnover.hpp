/// Turnover of thread blocks: staged ones take the place of those that end.
///
/// A block is done, and its slot and registers are free, when all its requests are answered.  With
/// `stores_drain_with: grid` stores that are on their way do not count; the block's grid waits for
/// them: stores are posted, and only the end of a kernel makes sure of them.  The dispatcher keeps
/// one block staged, so that a slot is not empty for a round trip.
/// Source: architecture.md, section 8, rules 5 and 11 and "Horizons and ranks" (staged blocks);
/// gpu-parameters.md, section 1 "Adaptive L1".
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <span>

#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/execution/printing.hpp"
#include "models/sm/front_end/drained_warps.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/load_store/load_store_unit.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"
#include "models/sm/translation/translation.hpp"
#include "models/sm/turnover/block_log.hpp"
#include "models/sm/turnover/local_scheduler.hpp"

namespace lockstep {

class BlockTurnover final : public DrainedWarps {
 public:
  BlockTurnover(const SmContext& sm, FrontEnd& front_end, FaultableAccesses& faultable, L1& l1,
                Translation& translation, LoadStoreUnit& load_store, Printing& printing,
                LocalScheduler& scheduler, ClusterBlocks& clusters)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        ports_(sm.ports),
        front_end_(front_end),
        faultable_(faultable),
        l1_(l1),
        translation_(translation),
        load_store_(load_store),
        printing_(printing),
        scheduler_(scheduler),
        clusters_(clusters),
        log_(sm.constants.setup.record_blocks) {}

  void start_grid(const GridLaunch& launch, std::span<const std::byte> payload);
  void end_grid(GridId grid);
  /// Stages a block that has come, and starts it as soon as there is room.  `position`: place of
  /// the block, if not empty.
  void stage(const BlockReference& reference, std::span<const std::byte> position, SmCycle now);
  void drained(WarpSlot slot, SmCycle now) override;
  /// Lets the block leave, because the threads of all blocks of its cluster have ended.
  void cluster_over(const ClusterBlock& block, SmCycle now) {
    finish_block(clusters_.leave(block), now);
  }
  /// Carries out a step by which a cluster leaves its SMs as a whole.
  void cluster_moves(const ClusterMove& move, SmCycle now) {
    if (const auto place = scheduler_.cluster_moves(move, now)) finish_block(*place, now);
  }
  /// Ends the tenant's blocks after a mistake: they leave as if they were done.
  void abort_tenant(TenantId tenant, SmCycle now);

  /// Gives the SM to another grid: staged blocks of the stopped grid go back to the dispatcher, and
  /// its blocks on chip make room.  `commands`: BlockCommands.
  void stop_grid(const GridStop& stop, std::span<const std::byte> commands, SmCycle now);
  /// Tells the dispatcher how far the grid's blocks are.
  void tell_status(GridId grid, SmCycle now);
  void resume_grid(GridId grid);
  /// Gives a block in memory to another SM; adopt_block() takes a block that another SM has saved.
  void give_block(GridId grid, SmCycle now);
  void adopt_block(const BlockGiven& given, std::span<const std::byte> payload, SmCycle now);
  void context_is_free(std::uint32_t place, SmCycle now) { scheduler_.free_place(place, now); }
  void homes_are_free(std::span<const std::byte> homes, SmCycle now) {
    scheduler_.exchange().free_homes(homes, now);
  }

  // Blocks that leave because of faults or a more urgent grid, and return.
  bool has_to_look() const { return scheduler_.has_to_look() || !asked_.empty(); }
  /// Checks whether blocks may leave or return, after an event that may let them.
  void look(SmCycle now);
  /// Returns whether a block in memory waited for the page.
  bool page_came(const PageNotice& notice, SmCycle now);
  SmCycle wake() const { return scheduler_.wake(); }

  const BlockLog& log() const { return log_; }

  bool empty() const { return blocks_.used().blocks == 0 && staged_.empty() && scheduler_.empty(); }
  void serialize(Archive& archive) {
    archive.section("sm/turnover", 5);
    archive(staged_, asked_, shared_carve_out_, log_);
    scheduler_.serialize(archive);
  }

 private:
  struct StagedBlock {
    BlockReference reference;
    std::optional<BlockPosition> at;
    void serialize(Archive& archive) { archive(reference, at); }
  };
  void start_staged(SmCycle now);
  void start_block(const StagedBlock& staged, std::uint8_t grid, SmCycle now);
  void finish_block(BlockPlace place, SmCycle now);
  void flush_block(BlockPlace place, SmCycle now);
  /// Takes the block out of its place for good.  Returns the message to the dispatcher.
  BlockDone leave_for_good(BlockPlace place, bool is_done, SmCycle now);
  void log_done(const BlockDone& done, SmCycle now) {
    log_.done(done.block, constants_.time_of(now));
  }
  /// Tells the dispatcher that a place is free, and lets other blocks take it.
  template <class Body>
  void refill(MessageKind kind, const Body& body, SmCycle now);
  void return_blocks(SmCycle now);
  void hand_over(const BlockReference& saved, SmCycle now);
  /// Tells the dispatcher, once, that no block of a stopped grid is left here.
  void tell_if_stopped(std::uint8_t grid, SmCycle now);
  /// Returns the PTX line of the instruction after which the block could not be flushed; 0: it
  /// still can.
  std::uint32_t ended_by(const BlockSlot& block) const;
  void choose_carve_out(const GridSlot& grid, SmCycle now);
  void forget_ended_grids();
  /// Removes and returns the staged blocks for which match(reference) holds.
  template <class Match>
  std::vector<BlockReference> take_staged(Match&& match) {
    const auto kept = std::stable_partition(
        staged_.begin(), staged_.end(), [&](const auto& block) { return !match(block.reference); });
    std::vector<BlockReference> taken;
    for (auto block = kept; block != staged_.end(); ++block) taken.push_back(block->reference);
    staged_.erase(kept, staged_.end());
    return taken;
  }
  void drop_staged(TenantId tenant, SmCycle now);
  void drop_in_memory(TenantId tenant, SmCycle now);
  /// Ends the threads of the tenant's warps.  Returns these warps.
  std::uint64_t kill_warps(TenantId tenant);

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  FaultableAccesses& faultable_;
  L1& l1_;
  Translation& translation_;
  LoadStoreUnit& load_store_;
  Printing& printing_;
  LocalScheduler& scheduler_;
  ClusterBlocks& clusters_;
  BlockLog log_;
  std::deque<StagedBlock> staged_;
  std::vector<GridId> asked_;           ///< grids of which the dispatcher needs a block soon
  std::uint32_t shared_carve_out_ = 0;  ///< bytes of the unified storage used as shared memory
};

}  // namespace lockstep
