#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory/zeroed.hpp"
#include "models/sm/blocks/block_slot.hpp"
#include "models/sm/blocks/grid_slot.hpp"
#include "models/sm/blocks/under_way.hpp"
#include "models/sm/blocks/warp.hpp"
#include "models/sm/blocks/warp_set.hpp"

namespace lockstep {

/// Warps in their slots, with their blocks and grids: state that every part of the SM looks up.
class ResidentWarps {
 public:
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
  /// Warps with accesses that wait for pages which were refused.
  std::uint64_t& page_waiters() { return hot_.page_waiters; }
  /// Requests of the warps to memory that have no answer.
  UnderWay& under_way() { return under_way_; }
  const UnderWay& under_way() const { return under_way_; }
  /// Returns whether all stores are acknowledged that a release by this warp must wait for.
  bool released(WarpSlot slot) const {
    return under_way_.is_released(slot, BlockPlace(warps_[slot.value()].block));
  }
  /// Returns the counts of the grid at its place.
  GridCounts& counts(std::uint8_t grid) { return hot_.grids[grid].counts; }
  GridCounts& counts_of(WarpSlot slot) { return counts(warps_[slot.value()].grid); }
  /// Returns the counts of the only grid with resident warps; nullptr if there are several.
  GridCounts* counts_of_only_grid() {
    return hot_.only_grid == no_grid ? nullptr : &hot_.grids[hot_.only_grid].counts;
  }
  const GridCounts* counts_of_only_grid() const {
    return hot_.only_grid == no_grid ? nullptr : &hot_.grids[hot_.only_grid].counts;
  }
  const isa::Instruction& instruction(const Warp& warp, std::uint32_t pc) const {
    return hot_.grids[warp.grid].instructions[pc];
  }
  /// Returns whether the warp's next instruction is a preemption point.
  bool at_preemption_point(const Warp& warp) const {
    return warp.paths.runnable() &&
           (instruction(warp, warp.paths.pc()).flags & isa::flag_preemption_point) != 0;
  }
  isa::WarpContext context_of(const Warp& warp) const {
    return context_of(warp, hot_.grids[warp.grid]);
  }
  isa::WarpContext context_of(const Warp& warp, const GridSlot& grid) const {
    return grid.context_of(warp.registers, hot_.scratch_rows);
  }
  /// Returns where the 32 lanes of the operand stand.
  std::uint32_t* row_of(const Warp& warp, isa::Operand operand) const {
    if (operand.base() == isa::Operand::registers) [[likely]]
      return warp.registers + operand.row() * isa::warp_size;
    return context_of(warp).row(operand);
  }
  /// Returns the lanes of the warp's current path whose guard holds.
  std::uint32_t active_lanes(const Warp& warp, const isa::Instruction& instruction) const {
    return active_lanes(warp, grid_of(warp), instruction);
  }
  static std::uint32_t active_lanes(const Warp& warp, const GridSlot& grid,
                                    const isa::Instruction& instruction) {
    return guarded(warp, grid, instruction, warp.paths.mask());
  }
  /// Returns the lanes of `lanes` whose guard holds.
  std::uint32_t guarded(const Warp& warp, const isa::Instruction& instruction,
                        std::uint32_t lanes) const {
    return guarded(warp, grid_of(warp), instruction, lanes);
  }
  static std::uint32_t guarded(const Warp& warp, const GridSlot& grid,
                               const isa::Instruction& instruction, std::uint32_t lanes) {
    if (instruction.guard != isa::no_predicate) {
      const std::uint32_t predicate = grid.predicates_behind(warp.registers)[instruction.guard];
      lanes &= instruction.guard_negated ? ~predicate : predicate;
    }
    return lanes;
  }
  std::byte* shared_memory_of(const BlockSlot& block) {
    return hot_.shared.data() + block.shared_base;
  }
  const std::byte* shared_memory_of(const BlockSlot& block) const {
    return hot_.shared.data() + block.shared_base;
  }

 protected:
  ResidentWarps(std::size_t warps, std::size_t blocks) : under_way_(warps, blocks) {}

  static constexpr std::size_t no_grid = ~std::size_t{0};

  /// Brings near what every window touches.
  struct Hot {
    std::uint64_t resident = 0;  ///< mask of used warp slots
    std::uint64_t page_waiters = 0;
    std::size_t only_grid = no_grid;  ///< place of the only grid with resident blocks
    std::uint32_t* scratch_rows = nullptr;
    std::vector<GridSlot> grids;
    std::vector<BlockSlot> blocks;
    ZeroedVector<std::byte> shared;
  };

  Hot hot_;
  UnderWay under_way_;
  std::array<Warp, 64> warps_;
};

}  // namespace lockstep
