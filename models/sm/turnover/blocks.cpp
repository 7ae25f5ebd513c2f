/// Grids and blocks: what they take while they are here.
///
/// Source: architecture.md, section 8, rules 5 and 11 and "Horizons and ranks" (staged blocks);
/// gpu-parameters.md, section 1 "Adaptive L1".
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "models/isa/load.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

/// A block's place in shared memory.  Blocks of different sizes leave gaps; when none is large
/// enough the blocks move together, at no cost in time: only the sum of sizes limits what is
/// resident.
std::uint32_t take_shared(SmState& sm, std::uint32_t bytes) {
  if (const auto base = sm.shared_ranges.take(bytes)) return *base;
  std::vector<BlockSlot*> holders;
  for (BlockSlot& block : sm.blocks)
    if (block.used && block.shared_bytes > 0) holders.push_back(&block);
  std::sort(holders.begin(), holders.end(),
            [](const BlockSlot* a, const BlockSlot* b) { return a->shared_base < b->shared_base; });
  sm.shared_ranges.reset(static_cast<std::uint32_t>(sm.shared.size()));
  for (BlockSlot* block : holders) {
    const std::uint32_t base = *sm.shared_ranges.take(block->shared_bytes);
    std::memmove(sm.shared.data() + base, sm.shared.data() + block->shared_base,
                 block->shared_bytes);
    block->shared_base = base;
  }
  const auto base = sm.shared_ranges.take(bytes);
  LOCKSTEP_CHECK(base.has_value(), "blocks hold more shared memory than there is");
  return *base;
}

/// The `count` free warp slots that are taken next are brought near: what is written there is read
/// soon, and this computer waits for both.
void warm_free_warps(const SmState& sm, std::uint32_t count) {
  std::uint64_t free = ~sm.resident;
  for (; count > 0 && free != 0; --count, free &= free - 1)
    warm(&sm.warps[static_cast<unsigned>(std::countr_zero(free))], offsetof(Warp, paths));
}

/// Registers are zero at first, as the reference has them.  What is written before it is read is
/// left alone: rows of a new block are seldom in this computer's caches.
void zero_what_is_read_first(const GridSlot& grid, const isa::WarpContext& context) {
  std::fill_n(context.predicates, grid.program->predicates, 0);
  for (const std::size_t row : grid.issue->rows_read_first)
    std::fill_n(context.bases[isa::Operand::registers] + row * isa::warp_size, isa::warp_size, 0);
}

}  // namespace

void SmState::start_grid(const GridLaunch& launch, std::span<const std::byte> payload) {
  std::size_t index = 0;
  while (index < grids.size() && grids[index].used) ++index;
  LOCKSTEP_CHECK(index < 256, "too many grids at one SM");
  if (index == grids.size()) grids.emplace_back();
  GridSlot& grid = grids[index];
  grid = GridSlot{};
  grid.used = true;
  grid.launch = launch;
  const std::size_t parameter_bytes = (launch.parameter_bytes + 7u) & ~std::size_t{7};
  grid.parameters.assign(payload.begin(),
                         payload.begin() + static_cast<std::ptrdiff_t>(parameter_bytes));
  grid.globals.resize(launch.globals);
  if (launch.globals > 0)
    std::memcpy(grid.globals.data(), payload.data() + parameter_bytes,
                launch.globals * sizeof(std::uint64_t));
  grid.find_program(setup.modules, *tables, *constant_rows);
  grid.block = block_resources(*grid.program, launch.threads_per_block(),
                               launch.dynamic_shared_bytes, limits);
  if (!grid.module->constant_relocations.empty()) {
    grid.relocated_image = grid.module->constant_image;
    isa::relocate(grid.relocated_image, grid.module->constant_relocations, *grid.module,
                  grid.globals);
  }
  l1.drop_clean();
}

void SmState::end_grid(std::uint32_t number) {
  grids[slot_of_grid(number)].ended = true;
  forget_ended_grids();
}

unsigned SmState::slot_of_grid(std::uint32_t number) const {
  const auto grid = std::find_if(grids.begin(), grids.end(), [&](const GridSlot& g) {
    return g.used && g.launch.grid == number;
  });
  LOCKSTEP_CHECK(grid != grids.end(), "a message names an unknown grid");
  return static_cast<unsigned>(grid - grids.begin());
}

void SmState::forget_ended_grids() {
  for (std::size_t g = 0; g < grids.size(); ++g) {
    GridSlot& grid = grids[g];
    if (!grid.used || !grid.ended || grid.resident_blocks > 0) continue;
    const bool is_staged = std::any_of(staged.begin(), staged.end(), [&](const auto& reference) {
      return reference.grid == grid.launch.grid;
    });
    if (is_staged) continue;
    flush_instructions(grid);
    grid = GridSlot{};
  }
}

void SmState::start_staged(std::int64_t now) {
  while (!staged.empty()) {
    const BlockReference reference = staged.front();
    const unsigned g = slot_of_grid(reference.grid);
    if (!used.leaves_room_for(grids[g].block, limits)) return;
    staged.pop_front();
    start_block(reference, g, now);
  }
}

/// Blocks of the grid that may yet come to stand here with those that do, and the one that comes.
static std::uint32_t blocks_to_come(const GridSlot& grid, const OccupancyLimits& limits) {
  const std::uint64_t here =
      std::min<std::uint64_t>(blocks_per_sm(grid.block, limits), grid.launch.block_count());
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(here, grid.resident_blocks) -
                                    grid.resident_blocks + 1);
}

void SmState::start_block(const BlockReference& reference, unsigned g, std::int64_t now) {
  GridSlot& grid = grids[g];
  count_residency(now);
  account_stalls(now);
  choose_carve_out(grid, now);
  used += grid.block;
  ++grid.resident_blocks;
  const auto free_block =
      std::find_if(blocks.begin(), blocks.end(), [](const BlockSlot& b) { return !b.used; });
  LOCKSTEP_CHECK(free_block != blocks.end(), "no block slot is free");
  BlockSlot& block = *free_block;
  const auto block_index = static_cast<std::uint8_t>(free_block - blocks.begin());
  block = BlockSlot{};
  block.used = true;
  block.grid = static_cast<std::uint8_t>(g);
  block.index = reference.block;
  const auto& size = grid.launch.blocks;
  block.coordinates = {static_cast<std::uint32_t>(reference.block % size[0]),
                       static_cast<std::uint32_t>(reference.block / size[0] % size[1]),
                       static_cast<std::uint32_t>(reference.block / size[0] / size[1])};
  block.alive_threads = grid.launch.threads_per_block();
  block.warps_left = grid.block.warps;
  if (grid.block.shared_bytes > 0) {
    block.shared_base = take_shared(*this, grid.block.shared_bytes);
    block.shared_bytes = grid.block.shared_bytes;
    std::memset(shared.data() + block.shared_base, 0, block.shared_bytes);
  }
  block.rows = grid.rows_per_warp() * grid.block.warps;
  bool moved = false;
  block.first_row = registers.take(block.rows, blocks_to_come(grid, limits), moved);
  warm_free_warps(*this, grid.block.warps);
  std::uint32_t threads = block.alive_threads;
  for (std::uint32_t w = 0; w < grid.block.warps; ++w) {
    const unsigned slot = static_cast<unsigned>(std::countr_one(resident));
    LOCKSTEP_CHECK(slot < parameters.warps, "no warp slot is free");
    resident |= bit(slot);
    block.warps |= bit(slot);
    Warp& warp = warps[slot];
    warp.pending = {};
    warp.loads = {};
    warp.flights = warp.stores = 0;
    warp.warp_in_block = static_cast<std::uint8_t>(w);
    warp.block = block_index;
    warp.grid = static_cast<std::uint8_t>(g);
    warp.tenant = static_cast<std::uint8_t>(grid.launch.tenant);
    const std::uint32_t lanes = std::min<std::uint32_t>(threads, isa::warp_size);
    threads -= lanes;
    warp.paths.start(lanes == 32 ? 0xffffffffu : (1u << lanes) - 1);
    std::visit([&](auto& s) { s.added(slot % parameters.schedulers, slot); }, scheduler);
    prints.erase(slot);  // of a tenant that was ended
    point_warp(slot);
    zero_what_is_read_first(grid, context_of(warp));
    resume_at(slot, now + 1);
  }
  if (moved) rebuild_pointers();
  ++tenant_blocks[grid.launch.tenant];
  tenant_warps[grid.launch.tenant] += grid.block.warps;
}

void SmState::point_warp(unsigned slot) {
  Warp& warp = warps[slot];
  const GridSlot& grid = grids[warp.grid];
  const BlockSlot& block = blocks[warp.block];
  warp.records = grid.issue->records.data();
  warp.registers = registers.row(block.first_row + warp.warp_in_block * grid.rows_per_warp());
}

void SmState::rebuild_pointers() {
  for (std::uint64_t left = resident; left != 0; left &= left - 1)
    point_warp(static_cast<unsigned>(std::countr_zero(left)));
}

/// On an empty SM, the smallest carve-out that holds the grid's blocks; a busy one only grows.
void SmState::choose_carve_out(const GridSlot& grid, std::int64_t now) {
  if (parameters.l1.unified_bytes.count() == 0) return;
  const std::uint64_t blocks_here = blocks_per_sm(grid.block, limits);
  const std::uint64_t wanted =
      used.blocks == 0
          ? grid.block.shared_bytes * blocks_here
          : std::max<std::uint64_t>(shared_carve_out, used.shared_bytes + grid.block.shared_bytes);
  std::uint64_t carve_out = parameters.shared.bytes.count();
  for (Bytes size : parameters.shared.carve_outs)
    if (size.count() >= wanted) carve_out = std::min(carve_out, size.count());
  if (carve_out == shared_carve_out) return;
  shared_carve_out = static_cast<std::uint32_t>(carve_out);
  for (std::uint32_t i = 0; i < l1.lines(); ++i) {
    const auto line = static_cast<std::uint16_t>(i);
    if (l1.is_dirty(line)) write_back(line, 0xf, now);
  }
  misses.for_each_open([&](std::uint16_t miss) { close_miss(miss); });
  l1.resize(
      static_cast<std::uint32_t>((parameters.l1.unified_bytes.count() - carve_out) / line_bytes));
}

void SmState::warp_drained(unsigned slot, std::int64_t now) {
  const Warp& warp = warps[slot];
  std::visit([&](auto& s) { s.removed(slot % parameters.schedulers, slot); }, scheduler);
  BlockSlot& block = blocks[warp.block];
  if (--block.warps_left == 0) finish_block(warp.block, now);
}

void SmState::finish_block(unsigned index, std::int64_t now) {
  count_residency(now);
  account_stalls(now);
  BlockSlot& block = blocks[index];
  GridSlot& grid = grids[block.grid];
  if (grid.program->local_bytes > 0) forget_local(block);
  resident &= ~block.warps;
  used -= grid.block;
  --grid.resident_blocks;
  --tenant_blocks[grid.launch.tenant];
  tenant_warps[grid.launch.tenant] -= grid.block.warps;
  ++statistics.tenant[grid.launch.tenant].blocks;
  shared_ranges.give_back(block.shared_base, block.shared_bytes);
  registers.give_back(block.first_row, block.rows);
  flush_instructions(grid);
  const BlockDone done{{grid.launch.grid, setup.index, block.index},
                       std::exchange(grid.unreported, {})};
  outbox->send(to_dispatcher, time_of(now), kind_of(MessageKind::block_done), done);
  block.used = false;
  start_staged(now);
  forget_ended_grids();
}

}  // namespace lockstep
