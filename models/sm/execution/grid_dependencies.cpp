#include "models/sm/execution/grid_dependencies.hpp"

#include <map>

#include "models/isa/ir.hpp"
#include "models/sm/blocks/warp_set.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;

static bool is_wait(const Instruction& instruction) {
  return instruction.category == Category::grid_dependency &&
         instruction.detail == static_cast<std::uint16_t>(isa::ir::GridDependencyStep::wait);
}

bool GridDependencies::has_passed(WarpSlot slot, const Instruction& wait) const {
  const Warp& warp = blocks_.warp(slot);
  const GridSlot& grid = blocks_.grid_of(warp);
  return grid.launch.primary == 0 || ResidentBlocks::active_lanes(warp, grid, wait) == 0;
}

void GridDependencies::issue(WarpSlot slot, const Instruction& instruction, SmCycle now) {
  if (is_wait(instruction)) return;
  const Warp& warp = blocks_.warp(slot);
  BlockSlot& block = blocks_.block_of(warp);
  if (block.has_let_go) return;
  block.has_let_go = true;
  ports_.tell_dispatcher(
      MessageKind::block_lets_go,
      BlockReference{blocks_.grid_of(warp).launch.grid, constants_.setup.index, block.index}, now);
}

bool GridDependencies::stands_at_wait(WarpSlot slot) const {
  const Warp& warp = blocks_.warp(slot);
  const GridSlot& grid = blocks_.grid_of(warp);
  return grid.launch.primary != 0 && warp.paths.runnable() &&
         is_wait(grid.instructions[warp.paths.pc()]);
}

void GridDependencies::primary_is_over(GridId number, SmCycle now) {
  GridSlot& over = blocks_.grid(blocks_.place_of(number));
  l1_.drop_clean();
  const std::uint64_t waiting = front_end_.waiting(StallCause::fence) & blocks_.resident();
  for_each_warp(waiting, [&](WarpSlot slot) {
    if (&blocks_.grid_of(blocks_.warp(slot)) != &over || !stands_at_wait(slot)) return;
    front_end_.end_wait(StallCause::fence, slot, now);
    front_end_.wake_at(now);
  });
  over.launch.primary = 0;
}

std::string GridDependencies::waiting_for() const {
  std::map<std::uint32_t, std::size_t> warps;  // number of waiting warps for each grid
  for_each_warp(front_end_.waiting(StallCause::fence) & blocks_.resident(), [&](WarpSlot slot) {
    if (stands_at_wait(slot)) ++warps[blocks_.grid_of(blocks_.warp(slot)).launch.primary - 1];
  });
  std::string text;
  for (const auto& [grid, count] : warps)
    text += "; " + std::to_string(count) + " warps wait for the end of grid " +
            std::to_string(grid) + " (griddepcontrol.wait)";
  return text;
}

}  // namespace lockstep
