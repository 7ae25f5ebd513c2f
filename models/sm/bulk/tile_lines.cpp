/// Copies of tiles by the engine for bulk copies: their maps, and the lines that tiles are cut
/// into.
#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/bulk/reduction.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/bulk/bulk_engine.hpp"

namespace lockstep {

using isa::Instruction;
using isa::TensorMap;

namespace {

/// Returns the bytes of a map that stands among parameters or constants; null: none is there.
const std::byte* map_at_hand(const GridSlot& grid, std::uint64_t address) {
  if (address >= isa::parameter_window_base)
    return isa::map_in_bank(grid.parameters, isa::parameter_window_base, address);
  if (address < isa::constant_window_base) return nullptr;
  return isa::map_in_bank(
      grid.relocated_image.empty() ? grid.module->constant_image : grid.relocated_image,
      isa::constant_window_base, address);
}

}  // namespace

void BulkEngine::begin_tiles(WarpSlot slot, const Instruction& instruction,
                             const IssueRecord& record, std::uint32_t active,
                             const LaneAddresses& address, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  const auto row = [&](isa::Operand operand) { return context.row(operand); };
  const auto copy_of = [&](unsigned lane) {
    return tile_copy(warp, instruction, isa::tile_copy_of(instruction, address[lane], lane, row),
                     lane);
  };
  isa::for_each_lane(active, [&](unsigned lane) { copy_of(lane); });  // mistakes are found first
  isa::for_each_lane(active, [&](unsigned lane) {
    const Copy asked = copy_of(lane);
    const std::uint16_t index = enter(slot, instruction, record, lane, now);
    Copy& copy = copies_[index];
    copy.global = asked.global;
    copy.shared = asked.shared;
    copy.barrier = asked.barrier;
    copy.rank = asked.rank;
    copy.first = asked.first;
    copy.map = asked.map;
    copy.map_state = asked.map_state;
    copy.mask = asked.mask;
    if (copy.map_state == MapState::known) {
      if (maps_.find(key_of(copy)) == nullptr)
        copy.ready += constants_.parameters.bulk.map_latency.count();
      maps_.keep(key_of(copy), copy.map);
      know_map(index, now);
    }
    wake_ = std::min(wake_, std::max(copy.ready, now + 1));
  });
}

BulkEngine::Copy BulkEngine::tile_copy(const Warp& warp, const Instruction& instruction,
                                       const isa::TileCopy& given, unsigned lane) {
  const isa::BulkCopyForm form = isa::BulkCopyForm::unpack(instruction.target);
  Copy copy;
  copy.global = given.map;
  copy.shared = given.shared;
  copy.barrier = given.barrier;
  copy.first = given.first;
  copy.rank = static_cast<std::uint8_t>(form.rank);
  copy.step = form.step;
  copy.operation = instruction.memory.atomic;
  copy.lane = static_cast<std::uint8_t>(lane);
  copy.pc = warp.paths.pc();
  if (form.multicast) {
    const isa::RanksPlace ranks = isa::ranks_place(form);
    const std::uint32_t mask =
        blocks_.row_of(warp, instruction.source[ranks.source])[2 * lane + ranks.half];
    deliveries_.require_ranks(warp, lane, mask);
    copy.mask = static_cast<std::uint16_t>(mask);
  }
  if (given.map >= isa::first_global_address) {
    checks_.require_held(warp, copy.pc, lane, Step::load, given.map, TensorMap::bytes);
    copy.map_state = MapState::wanted;
    return copy;
  }
  const std::byte* map = map_at_hand(blocks_.grid_of(warp), given.map);
  if (map == nullptr) {
    const isa::InstructionMistake mistake = isa::no_map_mistake(given.map);
    mistakes_.user_error(warp, copy.pc, lane, mistake.what, mistake.advice);
  }
  std::memcpy(copy.map.data(), map, copy.map.size());
  require_right_tile(warp, copy);
  return copy;
}

void BulkEngine::require_right_tile(const Warp& warp, const Copy& copy) {
  const auto require = [&](const isa::InstructionMistake& mistake) {
    if (mistake) mistakes_.user_error(warp, copy.pc, copy.lane, mistake.what, mistake.advice);
  };
  require(isa::map_mistake(copy.global, copy.map, copy.rank));
  const TensorMap map = isa::decode(copy.map);
  const isa::TileCopy asked{copy.global, copy.shared, copy.barrier, copy.first};
  require(isa::tile_copy_mistake(copy.step, asked, map, blocks_.block_of(warp).shared_bytes));
  if (copy.step == Step::prefetch) return;
  if (copy.step == Step::reduce) require(isa::reduction_mistake(copy.operation, map));
  const isa::TensorTile::Extent extent = isa::TensorTile(map, copy.first, copy.shared).extent();
  checks_.require_held(warp, copy.pc, copy.lane, copy.step, extent.first, extent.bytes);
}

MapCache::Key BulkEngine::key_of(const Copy& copy) const {
  const bool may_change = copy.global >= isa::first_global_address;
  return {copy.global, may_change ? copy.map_version : blocks_.grid(copy.grid).launch.grid,
          copy.tenant};
}

void BulkEngine::know_map(std::uint16_t index, SmCycle now) {
  Copy& copy = copies_[index];
  copy.map_state = MapState::known;
  try {
    const Warp& warp = blocks_.warp(slot_of(copy));
    require_right_tile(warp, copy);
    const TensorMap map = isa::decode(copy.map);
    copy.bytes = static_cast<std::uint32_t>(map.box_bytes());
    if (copy.step == Step::reduce) copy.element = isa::reduced_type(map.type);
    blocks_.counts(copy.grid).bulk_bytes += copy.bytes;
    if (copy.step == Step::load) blocks_.counts(copy.grid).async_copy_bytes += copy.bytes;
  } catch (const Mistake& mistake) {
    mistakes_.report(TenantId(copy.tenant), mistake, now);
    copy.failed = true;
  }
}

bool BulkEngine::fetch_map(std::uint16_t index, SmCycle now) {
  constexpr unsigned unit = isa::BulkCopy::unit;
  Copy& copy = copies_[index];
  if (copy.map_state == MapState::asked) return false;
  if (copy.next == 0) {
    copy.map_version = lines_.epoch();
    if (const TensorMap::Bytes* kept = maps_.find(key_of(copy))) {
      copy.map = *kept;
      know_map(index, now);
      return true;
    }
  }
  while (copy.next < TensorMap::bytes) {
    const std::uint64_t from = copy.global + copy.next;
    const auto bytes = static_cast<unsigned>(
        std::min<std::uint64_t>(TensorMap::bytes - copy.next, line_bytes - from % line_bytes));
    begin_line(copy, Access::Kind::bulk_load, from, bytes);
    line_.active = line_.group[0].lanes = (1u << bytes / unit) - 1;
    CopyTarget target;
    for (unsigned lane = 0; lane < bytes / unit; ++lane) {
      target.to[lane] = copy.next + lane * unit;
      target.bytes[lane] = unit;
    }
    line_.set(target);
    if (!send(line_, now)) return false;
    copy.next += bytes;
  }
  copy.next = 0;
  copy.map_state = MapState::asked;
  flights_.answered(copy.flight, SmCycle{}, now);  // the map has come, lines follow
  return copies_[index].map_state == MapState::known;
}

std::byte* BulkEngine::room(std::uint16_t copy) {
  Copy& of = copies_[copy];
  if (of.map_state != MapState::known) return of.map.data();
  return of.mask != 0 ? rooms_.open(copy, of.shared + of.bytes) : nullptr;
}

void BulkEngine::map_came(std::uint16_t index, SmCycle usable, SmCycle now) {
  Copy& copy = copies_[index];
  copy.flight = Flights::none;
  copy.ready = std::max(copy.ready, usable);
  maps_.keep(key_of(copy), copy.map);
  know_map(index, now);
  wake_ = std::min(wake_, std::max(copy.ready, now + 1));
}

const isa::TensorTile& BulkEngine::tile_of(std::uint16_t index) {
  if (tile_of_ != index) {
    const Copy& copy = copies_[index];
    tile_ = isa::TensorTile(isa::decode(copy.map), copy.first, copy.shared);
    tile_of_ = index;
  }
  return tile_;
}

std::uint32_t BulkEngine::make_line_of_tile(std::uint16_t index) {
  const Copy& copy = copies_[index];
  const isa::TensorTile& tile = tile_of(index);
  const isa::TileRun run = tile.run_from(copy.next, line_bytes);
  std::byte* shared = blocks_.shared_memory_of(blocks_.block_of(blocks_.warp(slot_of(copy))));
  if (!run.inside) {
    if (copy.step == Step::load) tile.fill(run, copy.mask != 0 ? room(index) : shared);
    line_.active = 0;
    return run.bytes;
  }
  ++blocks_.counts(copy.grid).bulk_lines;
  return copy.writes() ? write_run(copy, tile, run, shared) : load_run(copy, tile, run);
}

/// Makes a lane for each part of the run that lies within one sector and within one 16-byte unit of
/// shared memory.
std::uint32_t BulkEngine::load_run(const Copy& copy, const isa::TensorTile& tile,
                                   const isa::TileRun& run) {
  begin_line(copy, copy.step == Step::load ? Access::Kind::bulk_load : Access::Kind::bulk_prefetch,
             run.global, run.bytes);
  line_.contiguous = false;
  CopyTarget target;
  unsigned lanes = 0;
  const unsigned first = line_.group[0].first_offset;
  tile.for_each_piece(run, [&](std::uint32_t at, std::uint32_t place, std::uint32_t bytes) {
    for (std::uint32_t done = 0; done < bytes;) {
      const unsigned offset = first + at + done;
      const std::uint32_t part =
          std::min<std::uint32_t>(bytes - done, sector_bytes - offset % sector_bytes);
      line_.offset[lanes] = static_cast<std::uint8_t>(offset);
      target.to[lanes] = place + done;
      target.bytes[lanes] = static_cast<std::uint8_t>(part);
      ++lanes;
      done += part;
    }
  });
  line_.active = line_.group[0].lanes = (1u << lanes) - 1;
  line_.set(target);
  return run.bytes;
}

std::uint32_t BulkEngine::write_run(const Copy& copy, const isa::TensorTile& tile,
                                    const isa::TileRun& given, const std::byte* shared) {
  isa::TileRun run = given;
  run.bytes = begin_writing(copy, run.global, run.position, run.bytes);
  tile.for_each_piece(run, [&](std::uint32_t at, std::uint32_t place, std::uint32_t bytes) {
    write_operands(copy, at, shared + place, bytes);
  });
  return run.bytes;
}

}  // namespace lockstep
