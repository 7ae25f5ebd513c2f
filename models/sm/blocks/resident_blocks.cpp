#include "models/sm/blocks/resident_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error/error.hpp"
#include "models/isa/load.hpp"

namespace lockstep {

namespace {

/// Brings the next `count` free warp slots into this computer's caches, since they will soon be
/// written and read.
void warm_free_warps(const std::array<Warp, 64>& warps, std::uint64_t resident,
                     std::uint32_t count) {
  std::uint64_t free = ~resident;
  for (; count > 0 && free != 0; --count, free &= free - 1)
    warm(&warps[first_of(free).value()], offsetof(Warp, paths));
}

/// Sets the registers to zero that the program reads before it writes them, as in the reference.
/// Other registers keep their values: rows of a new block are seldom in this computer's caches.
void zero_what_is_read_first(const GridSlot& grid, const isa::WarpContext& context) {
  std::fill_n(context.predicates, grid.program->predicates, 0);
  for (const std::size_t row : grid.issue->rows_read_first)
    std::fill_n(context.bases[isa::Operand::registers] + row * isa::warp_size, isa::warp_size, 0);
}

/// Returns the number of further blocks of the grid that may stand here beside the present ones.
std::uint32_t blocks_to_come(const GridSlot& grid, const OccupancyLimits& limits) {
  const std::uint64_t here =
      std::min<std::uint64_t>(blocks_per_sm(grid.block, limits), grid.launch.block_count());
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(here, grid.resident_blocks) -
                                    grid.resident_blocks + 1);
}

std::array<std::uint32_t, 3> coordinates_in(const std::array<std::uint32_t, 3>& size,
                                            std::uint64_t index) {
  return {static_cast<std::uint32_t>(index % size[0]),
          static_cast<std::uint32_t>(index / size[0] % size[1]),
          static_cast<std::uint32_t>(index / size[0] / size[1])};
}

}  // namespace

ResidentBlocks::ResidentBlocks(const SmConstants& constants, SmStatistics& statistics)
    : ResidentWarps(constants.parameters.warps, constants.parameters.blocks),
      constants_(constants),
      statistics_(statistics),
      shared_ranges_(static_cast<std::uint32_t>(constants.parameters.shared.bytes.count())),
      homes_(constants.first_home(), constants.local_homes(),
             constants.setup.contexts.places > 0 ? constants.parameters.warps : 0),
      places_(constants.limits, constants.limits.placement),
      tenants_(constants.setup.tenants.size()) {
  hot_.blocks.resize(constants.parameters.blocks);
  hot_.shared.resize(constants.parameters.shared.bytes.count());
}

void ResidentBlocks::start_grid(const GridLaunch& launch, std::span<const std::byte> payload) {
  std::size_t index = 0;
  while (index < hot_.grids.size() && hot_.grids[index].used) ++index;
  LOCKSTEP_CHECK(index < 256, "too many grids at one SM");
  if (index == hot_.grids.size()) hot_.grids.emplace_back();
  GridSlot& grid = hot_.grids[index];
  grid = GridSlot{};
  under_way_.grid_begins(static_cast<std::uint8_t>(index));
  grid.used = true;
  grid.launch = launch;
  if (constants_.parameters.constant_cache.on()) grid.parameters_ready = no_cycle;
  const std::size_t parameter_bytes = (launch.parameter_bytes + 7u) & ~std::size_t{7};
  grid.parameters.assign(payload.begin(),
                         payload.begin() + static_cast<std::ptrdiff_t>(parameter_bytes));
  grid.globals.resize(launch.globals);
  if (launch.globals > 0)
    std::memcpy(grid.globals.data(), payload.data() + parameter_bytes,
                launch.globals * sizeof(std::uint64_t));
  grid.bounds =
      BufferBounds(payload.subspan(parameter_bytes + launch.globals * sizeof(std::uint64_t),
                                   launch.bounds * sizeof(BufferBound)));
  grid.find_program(constants_.setup);
  grid.block = block_resources(*grid.program, launch.threads_per_block(),
                               launch.dynamic_shared_bytes, constants_.limits, launch.registers);
  if (!grid.module->constant_relocations.empty()) {
    grid.relocated_image = grid.module->constant_image;
    isa::relocate(grid.relocated_image, grid.module->constant_relocations, *grid.module,
                  grid.globals);
  }
}

std::uint8_t ResidentBlocks::place_of(GridId number) const {
  const auto grid = std::find_if(hot_.grids.begin(), hot_.grids.end(), [&](const GridSlot& g) {
    return g.used && g.launch.grid == number.value();
  });
  LOCKSTEP_CHECK(grid != hot_.grids.end(), "a message names an unknown grid");
  return static_cast<std::uint8_t>(grid - hot_.grids.begin());
}

void ResidentBlocks::forget_grid(std::uint8_t place) {
  GridSlot& grid = hot_.grids[place];
  flush_counts(grid);
  if (grid.untaken.any()) left_.push_back({grid.launch.grid, grid.untaken});
  grid = GridSlot{};
}

std::vector<std::byte> ResidentBlocks::told_position_of(const BlockReference& reference) const {
  if (!places_.matter()) return {};
  const BlockPosition position = places_.position_of(reference.grid, reference.block);
  const auto bytes = std::as_bytes(std::span(&position, 1));
  return {bytes.begin(), bytes.end()};
}

BlockPlace ResidentBlocks::enter(const BlockReference& reference, std::uint8_t g,
                                 const std::optional<BlockPosition>& at) {
  const BlockPlace place = take_place(reference, g, at);
  BlockSlot& block = hot_.blocks[place.value()];
  const GridSlot& grid = hot_.grids[g];
  if (homes_.are_kept()) block.homes = homes_.take(grid.block.warps, TenantId(grid.launch.tenant));
  if (block.shared_bytes > 0) std::memset(shared_memory_of(block), 0, block.shared_bytes);
  for_each_warp(block.warps,
                [&](WarpSlot slot) { zero_what_is_read_first(grid, context_of(warp(slot))); });
  return place;
}

BlockPlace ResidentBlocks::return_from_memory(const BlockReference& reference, std::uint8_t g,
                                              std::vector<LocalHome> homes,
                                              const std::optional<BlockPosition>& at) {
  --hot_.grids[g].blocks_in_memory;
  const BlockPlace place = take_place(reference, g, at);
  homes_.entered(homes);
  hot_.blocks[place.value()].homes = std::move(homes);
  return place;
}

BlockPlace ResidentBlocks::take_place(const BlockReference& reference, std::uint8_t g,
                                      const std::optional<BlockPosition>& at) {
  GridSlot& grid = hot_.grids[g];
  used_ += grid.block;
  if (places_.matter()) places_.enter(reference.grid, reference.block, grid.block, at);
  if (grid.resident_blocks++ == 0) find_only_grid();
  const auto free_block = std::find_if(hot_.blocks.begin(), hot_.blocks.end(),
                                       [](const BlockSlot& b) { return !b.used; });
  LOCKSTEP_CHECK(free_block != hot_.blocks.end(), "no block slot is free");
  const BlockPlace place(static_cast<std::uint8_t>(free_block - hot_.blocks.begin()));
  BlockSlot& block = *free_block;
  block = BlockSlot{};
  under_way_.block_enters(place);
  block.used = true;
  block.grid = g;
  block.entry = ++entries_;
  block.index = reference.block;
  block.coordinates = coordinates_in(grid.launch.blocks, reference.block);
  block.alive_threads = grid.launch.threads_per_block();
  block.warps_left = grid.block.warps;
  if (grid.block.shared_bytes > 0) {
    block.shared_base = take_shared(grid.block.shared_bytes);
    block.shared_bytes = grid.block.shared_bytes;
  }
  block.rows = grid.rows_per_warp() * grid.block.warps;
  bool moved = false;
  block.first_row = registers_.take(block.rows, blocks_to_come(grid, constants_.limits), moved);
  enter_warps(place, grid);
  if (moved) rebuild_pointers();
  OfTenant& tenant = tenants_[grid.launch.tenant];
  ++tenant.blocks;
  tenant.warps += grid.block.warps;
  return place;
}

WarpSlot ResidentBlocks::slot_of_next_warp(std::uint32_t entry, std::uint32_t warp_in_block) const {
  const SmParameters& p = constants_.parameters;
  const std::uint64_t free = ~hot_.resident;
  if (p.sub_core_step == 0) return first_of(free);
  const std::uint64_t scheduler =
      (std::uint64_t{entry - 1} * p.sub_core_step + warp_in_block) % p.schedulers;
  std::uint64_t wanted = 0;
  for (std::uint64_t slot = scheduler; slot < p.warps; slot += p.schedulers)
    wanted |= std::uint64_t{1} << slot;
  return first_of((free & wanted) != 0 ? free & wanted : free);
}

void ResidentBlocks::enter_warps(BlockPlace place, const GridSlot& grid) {
  BlockSlot& block = hot_.blocks[place.value()];
  warm_free_warps(warps_, hot_.resident, grid.block.warps);
  std::uint32_t threads = block.alive_threads;
  for (std::uint32_t w = 0; w < grid.block.warps; ++w) {
    const WarpSlot slot = slot_of_next_warp(block.entry, w);
    LOCKSTEP_CHECK(slot.value() < constants_.parameters.warps, "no warp slot is free");
    hot_.resident |= bit_of(slot);
    block.warps |= bit_of(slot);
    Warp& warp = warps_[slot.value()];
    warp.pending = {};
    warp.loads = {};
    under_way_.warp_enters(slot);
    warp.warp_in_block = static_cast<std::uint8_t>(w);
    warp.block = place.value();
    warp.grid = block.grid;
    warp.tenant = static_cast<std::uint8_t>(grid.launch.tenant);
    const std::uint32_t lanes = std::min<std::uint32_t>(threads, isa::warp_size);
    threads -= lanes;
    warp.paths.start(lanes == 32 ? 0xffffffffu : (1u << lanes) - 1, 0,
                     constants_.parameters.turn_of_paths());
    point_warp(warp);
  }
}

/// A block's place in shared memory.  Blocks of different sizes leave gaps; when none is large
/// enough the blocks move together, at no cost in time: only the sum of sizes limits what is
/// resident.
std::uint32_t ResidentBlocks::take_shared(std::uint32_t bytes) {
  if (const auto base = shared_ranges_.take(bytes)) return *base;
  std::vector<BlockSlot*> holders;
  for (BlockSlot& block : hot_.blocks)
    if (block.used && block.shared_bytes > 0) holders.push_back(&block);
  std::sort(holders.begin(), holders.end(),
            [](const BlockSlot* a, const BlockSlot* b) { return a->shared_base < b->shared_base; });
  shared_ranges_.reset(static_cast<std::uint32_t>(hot_.shared.size()));
  for (BlockSlot* block : holders) {
    const std::uint32_t base = *shared_ranges_.take(block->shared_bytes);
    std::memmove(hot_.shared.data() + base, shared_memory_of(*block), block->shared_bytes);
    block->shared_base = base;
  }
  const auto base = shared_ranges_.take(bytes);
  LOCKSTEP_CHECK(base.has_value(), "blocks hold more shared memory than there is");
  return *base;
}

BlockDone ResidentBlocks::leave(BlockPlace place, bool is_done) {
  const BlockSlot& block = hot_.blocks[place.value()];
  give_place_back(place);
  homes_.give_back(block.homes);
  GridSlot& grid = hot_.grids[block.grid];
  if (is_done) ++statistics_.tenant[grid.launch.tenant].blocks;
  BlockDone done = report(grid, block.index);
  done.leaves_stores = static_cast<std::uint32_t>(under_way_.block_leaves(place, block.grid));
  done.had_let_go = static_cast<std::uint32_t>(block.has_let_go);
  return done;
}

std::vector<LocalHome> ResidentBlocks::leave_for_memory(BlockPlace place, std::uint8_t keeps) {
  give_place_back(place, keeps);
  ++hot_.grids[hot_.blocks[place.value()].grid].blocks_in_memory;
  return std::move(hot_.blocks[place.value()].homes);
}

BlockDone ResidentBlocks::forget_in_memory(const BlockReference& reference,
                                           const std::vector<LocalHome>& homes, bool is_done) {
  GridSlot& grid = hot_.grids[place_of(GridId(reference.grid))];
  --grid.blocks_in_memory;
  places_.leave(reference.grid, reference.block);
  homes_.give_back(homes);
  if (is_done) ++statistics_.tenant[grid.launch.tenant].blocks;
  return report(grid, reference.block);
}

BlockDone ResidentBlocks::report(GridSlot& grid, std::uint64_t index) {
  flush_counts(grid);
  return {
      {grid.launch.grid, constants_.setup.index, index}, std::exchange(grid.unreported, {}), {}, 0};
}

void ResidentBlocks::give_place_back(BlockPlace place, std::uint8_t keeps) {
  BlockSlot& block = hot_.blocks[place.value()];
  GridSlot& grid = hot_.grids[block.grid];
  hot_.resident &= ~block.warps;
  used_ -= grid.block;
  if (places_.matter()) places_.leave(grid.launch.grid, block.index, keeps);
  if (--grid.resident_blocks == 0) find_only_grid();
  OfTenant& tenant = tenants_[grid.launch.tenant];
  --tenant.blocks;
  tenant.warps -= grid.block.warps;
  shared_ranges_.give_back(block.shared_base, block.shared_bytes);
  registers_.give_back(block.first_row, block.rows);
  block.used = false;
}

std::span<std::byte> ResidentBlocks::rows_of(BlockPlace place) {
  const BlockSlot& block = hot_.blocks[place.value()];
  return std::as_writable_bytes(
      std::span(registers_.row(block.first_row), std::size_t{block.rows} * isa::warp_size));
}

std::span<std::byte> ResidentBlocks::shared_of(BlockPlace place) {
  const BlockSlot& block = hot_.blocks[place.value()];
  return {shared_memory_of(block), block.shared_bytes};
}

void ResidentBlocks::point_warp(Warp& warp) {
  const GridSlot& grid = grid_of(warp);
  warp.records = grid.issue->records.data();
  warp.registers =
      registers_.row(block_of(warp).first_row + warp.warp_in_block * grid.rows_per_warp());
}

void ResidentBlocks::rebuild_pointers() {
  for_each_warp(hot_.resident, [&](WarpSlot slot) { point_warp(warp(slot)); });
}

void ResidentBlocks::flush_counts(GridSlot& grid) {
  const GridCounts counts = std::exchange(grid.counts, {});
  statistics_.tenant[grid.launch.tenant] += counts;
  grid.untaken += counts;
  grid.unreported += {counts.warp_instructions, counts.thread_instructions};
}

void ResidentBlocks::take_counts(std::vector<GridContribution>& taken) {
  for (const GridContribution& left : std::exchange(left_, {})) taken.push_back(left);
  for (GridSlot& grid : hot_.grids)
    if (grid.used && grid.untaken.any())
      taken.push_back({grid.launch.grid, std::exchange(grid.untaken, {})});
}

void ResidentBlocks::find_only_grid() {
  const auto resides = [](const GridSlot& grid) { return grid.resident_blocks > 0; };
  const auto first = std::find_if(hot_.grids.begin(), hot_.grids.end(), resides);
  const bool alone =
      first != hot_.grids.end() && std::none_of(first + 1, hot_.grids.end(), resides);
  hot_.only_grid = alone ? static_cast<std::size_t>(first - hot_.grids.begin()) : no_grid;
}

void ResidentBlocks::count_residency(SmCycle up_to) {
  const auto since = static_cast<std::uint64_t>(up_to - std::exchange(counted_, up_to));
  for (GridSlot& grid : hot_.grids) {
    if (grid.resident_blocks == 0) continue;
    grid.counts.active_cycles += since;
    grid.counts.warp_cycles += since * grid.resident_blocks * grid.block.warps;
  }
  for (std::size_t t = 0; t < tenants_.size(); ++t) {
    OfTenant& tenant = tenants_[t];
    const auto cycles = static_cast<std::uint64_t>(up_to - tenant.counted);
    tenant.counted = up_to;
    if (tenant.blocks == 0) continue;
    statistics_.tenant[t].active_cycles += cycles;
    statistics_.tenant[t].warp_cycles += cycles * tenant.warps;
  }
}

void ResidentBlocks::flush_statistics(SmCycle up_to) {
  count_residency(up_to);
  for (GridSlot& grid : hot_.grids)
    if (grid.used) flush_counts(grid);
  for (std::size_t t = 0; t < tenants_.size(); ++t) {
    statistics_.tenant[t].resident_warps = tenants_[t].warps;
    statistics_.tenant[t].resident_blocks = tenants_[t].blocks;
  }
}

void ResidentBlocks::warm_warps(std::uint64_t warps) const {
  for_each_warp(warps, [&](WarpSlot slot) { warp(slot).warm_for_issue(); });
  for_each_warp(warps, [&](WarpSlot slot) {
    const Warp& warp = this->warp(slot);
    const IssueRecord& record = warp.records[warp.paths.pc()];
    if (record.unit == static_cast<std::uint8_t>(isa::Unit::memory))
      under_way_.warm_block(BlockPlace(warp.block));
    for (std::size_t i = 0; i < record.touches.size(); ++i)
      if (i == 0 || record.touches[i] != record.touches[0]) warp.warm_row(record.touches[i]);
  });
}

void ResidentBlocks::serialize(Archive& archive) {
  archive.section("sm/blocks", 9);
  archive(hot_.resident, hot_.grids, hot_.blocks, hot_.shared, tenants_, shared_ranges_, registers_,
          homes_, used_, places_, left_, counted_, entries_, under_way_);
  find_only_grid();
  for (GridSlot& grid : hot_.grids)
    if (grid.used) grid.find_program(constants_.setup);
  for_each_warp(hot_.resident, [&](WarpSlot slot) { archive(warp(slot)); });
  rebuild_pointers();
}

}  // namespace lockstep
