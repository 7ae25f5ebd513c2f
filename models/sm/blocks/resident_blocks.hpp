/// What is resident: grids, thread blocks and their warps, with the registers and the shared memory
/// that they hold.
///
/// It knows what is where; when blocks come and go is decided in turnover/.
/// Source: architecture.md, section 8, rules 5 and 11.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/warm.hpp"
#include "models/sm/blocks/block_slot.hpp"
#include "models/sm/blocks/grid_slot.hpp"
#include "models/sm/blocks/range_allocator.hpp"
#include "models/sm/blocks/register_arena.hpp"
#include "models/sm/blocks/warp.hpp"
#include "models/sm/blocks/warp_set.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/parameters/sm_statistics.hpp"

namespace lockstep {

class ResidentBlocks {
 public:
  ResidentBlocks(const SmConstants& constants, SmStatistics& statistics);

  /// Operand::scratch, until the window ends: of the running thread, in whose caches it stays.
  void begin_window(std::uint32_t* scratch_rows) { hot_.scratch_rows = scratch_rows; }

  std::uint64_t resident() const { return hot_.resident; }
  Warp& warp(WarpSlot slot) { return warps_[slot.value()]; }
  const Warp& warp(WarpSlot slot) const { return warps_[slot.value()]; }
  WarpSlot slot_of(const Warp& warp) const {
    return WarpSlot(static_cast<std::uint16_t>(&warp - warps_.data()));
  }
  TenantId tenant_of(WarpSlot slot) const { return TenantId(warps_[slot.value()].tenant); }
  BlockSlot& block(BlockPlace place) { return hot_.blocks[place.value()]; }
  const BlockSlot& block(BlockPlace place) const { return hot_.blocks[place.value()]; }
  BlockSlot& block_of(const Warp& warp) { return hot_.blocks[warp.block]; }
  const BlockSlot& block_of(const Warp& warp) const { return hot_.blocks[warp.block]; }
  GridSlot& grid_of(const Warp& warp) { return hot_.grids[warp.grid]; }
  const GridSlot& grid_of(const Warp& warp) const { return hot_.grids[warp.grid]; }
  const isa::Instruction& instruction(const Warp& warp, std::uint32_t pc) const {
    return hot_.grids[warp.grid].instructions[pc];
  }
  isa::WarpContext context_of(const Warp& warp) const {
    return context_of(warp, hot_.grids[warp.grid]);
  }
  isa::WarpContext context_of(const Warp& warp, const GridSlot& grid) const {
    return grid.context_of(warp.registers, hot_.scratch_rows);
  }
  /// Of the warp's current path, those whose guard holds.
  std::uint32_t active_lanes(const Warp& warp, const isa::Instruction& instruction) const {
    std::uint32_t lanes = warp.paths.mask();
    if (instruction.guard != isa::no_predicate) {
      const std::uint32_t predicate = context_of(warp).predicates[instruction.guard];
      lanes &= instruction.guard_negated ? ~predicate : predicate;
    }
    return lanes;
  }
  std::byte* shared_memory_of(const BlockSlot& block) {
    return hot_.shared.data() + block.shared_base;
  }
  /// All that a release by this warp must wait for is acknowledged.
  bool released(const Warp& warp) const {
    return warp.stores == 0 && block_of(warp).ordered_stores == 0;
  }

  // Grids, by their place.
  void start_grid(const GridLaunch& launch, std::span<const std::byte> payload);
  std::uint8_t place_of(GridId grid) const;
  GridSlot& grid(std::uint8_t place) { return hot_.grids[place]; }
  const GridSlot& grid(std::uint8_t place) const { return hot_.grids[place]; }
  std::size_t grid_places() const { return hot_.grids.size(); }
  void forget_grid(std::uint8_t place);
  /// What the grid's warps have executed goes to the statistics.
  void flush_instructions(GridSlot& grid);

  // Blocks.
  bool empty() const { return used_.blocks == 0; }
  std::uint32_t shared_bytes_used() const { return used_.shared_bytes; }
  bool has_room_for(const GridSlot& grid) const {
    return used_.leaves_room_for(grid.block, constants_.limits);
  }
  /// Gives a block of the grid its slots, registers and shared memory.
  BlockPlace enter(const BlockReference& reference, std::uint8_t grid);
  /// Takes them back; what to tell the dispatcher.
  BlockDone leave(BlockPlace place);

  /// Cycles of tenants with blocks here, up to a cycle.
  void count_residency(SmCycle up_to);
  /// All that the statistics have of blocks and instructions is up to date.
  void flush_statistics(SmCycle up_to);

  void warm_hot() const { warm(&hot_, sizeof hot_); }
  /// What the next instructions of these warps will touch.
  void warm_warps(std::uint64_t warps) const;
  void serialize(Archive& archive);

 private:
  /// What every window touches.
  struct Hot {
    std::uint64_t resident = 0;  ///< warp slots taken
    std::uint32_t* scratch_rows = nullptr;
    std::vector<GridSlot> grids;
    std::vector<BlockSlot> blocks;
    std::vector<std::byte> shared;
  };
  struct OfTenant {
    std::uint32_t blocks = 0, warps = 0;
    SmCycle counted;  ///< active and warp cycles are counted up to here
    template <class Archive>
    void serialize(Archive& archive) {
      archive(blocks, warps, counted);
    }
  };

  void enter_warps(BlockPlace place, const GridSlot& grid);
  std::uint32_t take_shared(std::uint32_t bytes);
  /// Sets the operand bases of a warp in its slot.
  void point_warp(Warp& warp);
  void rebuild_pointers();

  const SmConstants& constants_;
  SmStatistics& statistics_;
  Hot hot_;
  RangeAllocator shared_ranges_;
  RegisterArena registers_;
  BlockResources used_;
  std::vector<OfTenant> tenants_;
  std::array<Warp, 64> warps_;
};

}  // namespace lockstep
