#include "models/sm/execution/warpgroup_unit.hpp"

#include <algorithm>
#include <bit>

#include "models/isa/matrix/counted_types.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/isa/text/warpgroup_mistakes.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Instruction;

WarpgroupProgress& WarpgroupUnit::progress_of(const Warp& warp) {
  BlockSlot& block = blocks_.block_of(warp);
  const std::size_t group = warp.warp_in_block / isa::warps_of_group;
  if (block.warpgroups.size() <= group) block.warpgroups.resize(group + 1);
  return block.warpgroups[group];
}

static unsigned place_in_group(const Warp& warp) {
  return warp.warp_in_block % isa::warps_of_group;
}

bool WarpgroupUnit::has_room_for(WarpSlot slot, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const WarpgroupProgress& progress = progress_of(warp);
  const std::uint32_t next = progress.issued[place_in_group(warp)] + 1;
  const std::uint32_t queue = constants_.parameters.wgmma.queue;
  return next <= queue || progress.is_done(next - queue, now);
}

bool WarpgroupUnit::is_through(WarpSlot slot, std::uint32_t newest, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const WarpgroupProgress& progress = progress_of(warp);
  return progress.is_done(progress.ends[place_in_group(warp)][newest], now);
}

void WarpgroupUnit::commit(WarpSlot slot) {
  const Warp& warp = blocks_.warp(slot);
  progress_of(warp).commit(place_in_group(warp));
}

void WarpgroupUnit::require_right(const Warp& warp, const Instruction& product) const {
  const BlockSlot& block = blocks_.block_of(warp);
  const GridSlot& grid = blocks_.grid_of(warp);
  const isa::WarpContext context = blocks_.context_of(warp);
  const auto mistake = isa::product_mistake(
      product, isa::list_of(*grid.issue, product), warp.warp_in_block, grid.block.warps,
      block.shared_bytes, [&](isa::Operand operand) { return context.row(operand); });
  if (mistake) mistakes_.user_error(warp, warp.paths.pc(), 0, mistake.what, mistake.advice);
}

void WarpgroupUnit::count_issue(const Warp& warp, WarpgroupProgress& progress) {
  const std::uint32_t number = progress.issued[place_in_group(warp)] + 1;
  std::uint32_t& pc = progress.pcs[number % WarpgroupProgress::kept];
  if (number > progress.begun()) {
    pc = warp.paths.pc();
  } else if (pc != warp.paths.pc()) {
    mistakes_.user_error(warp, warp.paths.pc(), 0,
                         "the warps of a warp group execute different wgmma instructions",
                         "let the four warps go the same way");
  }
  progress.issued[place_in_group(warp)] = number;
}

std::int64_t WarpgroupUnit::interval_of(const isa::WarpgroupForm& form) const {
  const SmWarpgroupParameters& p = constants_.parameters.wgmma;
  constexpr std::int64_t rows = 64, columns_at_once = 8;
  const auto from_shared = [&](std::int64_t lines) {
    const std::int64_t bytes = lines * isa::bytes_along_k;
    return (bytes + p.operand_bytes_per_cycle - 1) / p.operand_bytes_per_cycle;
  };
  const std::int64_t a = form.a_in_registers ? p.register_operand.count() : from_shared(rows);
  return std::max(form.n / columns_at_once * p.eight_columns.count(), a + from_shared(form.n));
}

void WarpgroupUnit::start(const Warp& warp, WarpgroupProgress& progress,
                          const isa::WarpgroupForm& form, SmCycle now) {
  const SmCycle begin = std::max(now, free_);
  free_ = begin + interval_of(form);
  const SmCycle done =
      begin + constants_.parameters.wgmma.latency.count() + isa::registers_of_d(form);
  progress.done[progress.started() % WarpgroupProgress::kept] = done;
  const unsigned group = warp.warp_in_block / isa::warps_of_group;
  for_each_warp(blocks_.block_of(warp).warps, [&](WarpSlot member) {
    if (blocks_.warp(member).warp_in_block / isa::warps_of_group != group) return;
    blocks_.under_way().flight_begins(member);
    front_end_.tell_at(member, WarpEvent::product_done, done);
  });
}

void WarpgroupUnit::multiply(WarpSlot slot, const Instruction& product, std::uint32_t active,
                             SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  if (active == 0) {
    warp.paths.advance();
    return front_end_.evaluate(slot, warp, now);
  }
  const std::uint32_t together = control_.gather(slot, isa::whole_warp, now);
  if (together == 0) return;
  mistakes_.require_whole_warp(warp, product, blocks_.guarded(warp, product, together));
  require_right(warp, product);
  WarpgroupProgress& progress = progress_of(warp);
  const std::uint32_t before = progress.started();
  count_issue(warp, progress);
  isa::WarpgroupContext context{blocks_.context_of(warp)};
  context.shared = blocks_.shared_of(BlockPlace(warp.block)).data();
  context.warp_of_group = place_in_group(warp);
  context.active = context.path = together;
  product.execute(product, context);
  const isa::WarpgroupForm form = isa::unpack_warpgroup_form(product.target);
  GridCounts& counts = blocks_.counts(warp.grid);
  ++counts.matrix_instructions[isa::counted_type(form.a)];
  counts.tensor_cycles += static_cast<std::uint64_t>(interval_of(form));
  if (progress.started() != before) start(warp, progress, form, now);
  warp.paths.advance();
  front_end_.evaluate(slot, warp, now);
}

bool WarpgroupUnit::set_registers(WarpSlot slot, const Instruction& limit, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const GridSlot& grid = blocks_.grid_of(warp);
  if (ResidentBlocks::active_lanes(warp, grid, limit) == 0) return true;
  constexpr std::uint32_t least = 24;
  BlockSlot& block = blocks_.block_of(warp);
  const std::uint32_t warps = grid.block.warps;
  const std::uint32_t at_launch = grid.block.registers / warps / isa::warp_size;
  const bool takes = limit.detail != 0;
  const std::uint32_t most = SpareRegisters::most(at_launch, warps, least);
  if (takes && limit.target > most)
    mistakes_.user_error(warp, warp.paths.pc(), 0,
                         "setmaxnreg.inc to " + std::to_string(limit.target) +
                             " registers, and the block has " + std::to_string(at_launch) +
                             " a thread, so that a warp can get no more than " +
                             std::to_string(most),
                         "launch with more registers a thread: see .maxnreg and __launch_bounds__");
  SpareRegisters& registers = block.spare_registers;
  if (takes) return registers.take(warp.warp_in_block, limit.target, at_launch, warps);
  registers.give(warp.warp_in_block, limit.target, at_launch, warps);
  for_each_warp(block.warps & front_end_.waiting(StallCause::registers), [&](WarpSlot waiting) {
    front_end_.end_wait(StallCause::registers, waiting, now);
  });
  return true;
}

}  // namespace lockstep
