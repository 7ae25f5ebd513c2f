/// Resident grids, thread blocks and warps, with the registers and the shared memory that they
/// hold.
///
/// ResidentBlocks knows what stands where; turnover/ decides when blocks come and go.
/// Source: architecture.md, section 8, rules 5 and 11.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/warm.hpp"
#include "models/sm/blocks/block_slot.hpp"
#include "models/sm/blocks/grid_slot.hpp"
#include "models/sm/blocks/local_homes.hpp"
#include "models/sm/blocks/range_allocator.hpp"
#include "models/sm/blocks/register_arena.hpp"
#include "models/sm/blocks/resident_warps.hpp"
#include "models/sm/blocks/warp_set.hpp"
#include "models/sm/parameters/sm_places.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/parameters/sm_statistics.hpp"

namespace lockstep {

class ResidentBlocks : public ResidentWarps {
 public:
  ResidentBlocks(const SmConstants& constants, SmStatistics& statistics);

  /// Begins a window.  `scratch_rows`: memory for Operand::scratch until the window ends.  The rows
  /// belong to the running thread and stay in its caches.
  void begin_window(std::uint32_t* scratch_rows) { hot_.scratch_rows = scratch_rows; }

  /// Returns where the warp's local memory stands.
  LocalHome home_of(WarpSlot slot) const {
    const Warp& warp = warps_[slot.value()];
    const std::vector<LocalHome>& homes = block_of(warp).homes;
    return homes.empty() ? LocalHome(constants_.first_home().value() + slot.value())
                         : homes[warp.warp_in_block];
  }
  TenantId tenant_at(LocalHome home) const {
    if (homes_.are_kept()) return homes_.tenant_at(home);
    return tenant_of(
        WarpSlot(static_cast<std::uint16_t>(home.value() - constants_.first_home().value())));
  }
  LocalHomes& homes() { return homes_; }

  // Grids, by their place.
  void start_grid(const GridLaunch& launch, std::span<const std::byte> payload);
  std::uint8_t place_of(GridId grid) const;
  GridSlot& grid(std::uint8_t place) { return hot_.grids[place]; }
  const GridSlot& grid(std::uint8_t place) const { return hot_.grids[place]; }
  std::size_t grid_places() const { return hot_.grids.size(); }
  void forget_grid(std::uint8_t place);
  /// Adds the grid's counts so far to the statistics.
  void flush_counts(GridSlot& grid);
  /// Appends the grids' counts that have not been taken yet to `taken`.
  void take_counts(std::vector<GridContribution>& taken);

  // Blocks.
  const BlockResources& used() const { return used_; }
  /// Returns whether a block of the grid fits.  `kept`: what the block already has here.  `at`: the
  /// place where the block must go.
  bool has_room_for(const GridSlot& grid, const BlockResources& kept = {},
                    const std::optional<BlockPosition>& at = std::nullopt) const {
    BlockResources lacking = grid.block;
    lacking -= kept;
    if (!used_.leaves_room_for(lacking, constants_.limits)) return false;
    if (at) return places_.is_free(*at, lacking);
    return !places_.matter() || places_.has_place(lacking);
  }
  /// Returns the position of a block that has come, to be told to the dispatcher; empty: places do
  /// not matter.
  std::vector<std::byte> told_position_of(const BlockReference& reference) const;
  /// Gives a block of the grid its slots, registers and shared memory.
  BlockPlace enter(const BlockReference& reference, std::uint8_t grid,
                   const std::optional<BlockPosition>& at = std::nullopt);
  /// Removes the block, because it is done or because it will start again.  Returns the message to
  /// the dispatcher.
  BlockDone leave(BlockPlace place, bool is_done = true);
  /// Takes the block out of its place for a time.  Its grid stays, and its local memory stays where
  /// it is. Returns the homes of that local memory. `keeps`: InPlace bits.
  std::vector<LocalHome> leave_for_memory(BlockPlace place, std::uint8_t keeps = 0);
  /// Keeps resources for a block that has left; give_back() frees them.
  void keep(const BlockResources& kept) { used_ += kept; }
  void give_back(const BlockResources& kept) { used_ -= kept; }
  /// The block gets slots, registers and shared memory again, with the contents that their last
  /// owners left.
  BlockPlace return_from_memory(const BlockReference& reference, std::uint8_t grid,
                                std::vector<LocalHome> homes,
                                const std::optional<BlockPosition>& at = std::nullopt);
  /// Forgets a block in memory that will not return, because its tenant has been ended or because
  /// it returns to another SM. Returns the message to the dispatcher.
  BlockDone forget_in_memory(const BlockReference& reference, const std::vector<LocalHome>& homes,
                             bool is_done = true);
  /// Expects a block of the grid that another SM has saved and that returns here from memory.
  void expect_from_memory(std::uint8_t grid) { ++hot_.grids[grid].blocks_in_memory; }
  /// Registers and predicates of all warps of the block.
  std::span<std::byte> rows_of(BlockPlace place);
  std::span<std::byte> shared_of(BlockPlace place);

  /// Counts the cycles in which tenants had blocks here, up to `up_to`.
  void count_residency(SmCycle up_to);
  /// Brings the statistics of blocks and instructions up to date.
  void flush_statistics(SmCycle up_to);

  void warm_hot() const {
    warm(&hot_, sizeof hot_);
    under_way_.warm_warps();
    if (const GridCounts* counts = counts_of_only_grid())
      warm(counts, offsetof(GridCounts, l2_tlb_hits));
  }
  /// Fetches into the cache the state that the next instructions of these warps will touch.
  void warm_warps(std::uint64_t warps) const;
  void serialize(Archive& archive);

 private:
  struct OfTenant {
    std::uint32_t blocks = 0, warps = 0;
    SmCycle counted;  ///< cycle up to which active and warp cycles are counted
    template <class Archive>
    void serialize(Archive& archive) {
      archive(blocks, warps, counted);
    }
  };

  BlockPlace take_place(const BlockReference& reference, std::uint8_t grid,
                        const std::optional<BlockPosition>& at = std::nullopt);
  void give_place_back(BlockPlace place, std::uint8_t keeps = 0);
  BlockDone report(GridSlot& grid, std::uint64_t index);
  void find_only_grid();
  /// Returns the slot of a warp of the SM's block number `entry` (sm.sub_core_step).
  WarpSlot slot_of_next_warp(std::uint32_t entry, std::uint32_t warp_in_block) const;
  void enter_warps(BlockPlace place, const GridSlot& grid);
  std::uint32_t take_shared(std::uint32_t bytes);
  /// Sets the operand bases of a warp in its slot.
  void point_warp(Warp& warp);
  void rebuild_pointers();

  const SmConstants& constants_;
  SmStatistics& statistics_;
  RangeAllocator shared_ranges_;
  RegisterArena registers_;
  LocalHomes homes_;
  BlockResources used_;
  SmPlaces places_;
  std::vector<OfTenant> tenants_;
  std::vector<GridContribution> left_;  ///< contributions of ended grids that have not been taken
  std::uint32_t entries_ = 0;           ///< number of blocks that have come
  SmCycle counted_;                     ///< cycle up to which the cycles of grids are counted
};

}  // namespace lockstep
