#include "models/sm/parameters/sm_places.hpp"

#include <algorithm>
#include <iterator>

#include "core/error/error.hpp"

namespace lockstep {

namespace {

/// Returns the first gap of the size below `end`.
std::optional<std::uint32_t> first_gap(std::vector<ResourceRange> taken, std::uint32_t size,
                                       std::uint32_t end) {
  std::sort(taken.begin(), taken.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::uint32_t begin = 0;
  for (const ResourceRange& range : taken) {
    if (range.begin >= begin + size) break;
    begin = std::max(begin, range.begin + range.size);
  }
  if (begin + size > end) return std::nullopt;
  return begin;
}

}  // namespace

BlockRoom SmPlaces::place(std::uint32_t i, const BlockResources& need) {
  return room_at({i * need.registers, i * need.shared_bytes}, need);
}

std::uint32_t SmPlaces::places_for(const BlockResources& need) const {
  std::uint32_t places = blocks_;
  if (need.registers > 0) places = std::min(places, registers_ / need.registers);
  if (need.shared_bytes > 0) places = std::min(places, shared_bytes_ / need.shared_bytes);
  return places;
}

bool SmPlaces::is_free(const BlockRoom& room) const {
  return std::none_of(rooms_.begin(), rooms_.end(),
                      [&](const BlockRoom& other) { return other.overlaps(room); });
}

std::optional<BlockRoom> SmPlaces::find(const BlockResources& need) const {
  if (placement_ == Placement::packed) return find_gap(need);
  for (std::uint32_t i = 0; i < places_for(need); ++i)
    if (const BlockRoom room = place(i, need); is_free(room)) return room;
  return std::nullopt;
}

std::optional<BlockRoom> SmPlaces::find_gap(const BlockResources& need) const {
  std::vector<ResourceRange> registers, shared;
  for (const BlockRoom& room : rooms_) {
    registers.push_back(room.registers);
    shared.push_back(room.shared);
  }
  const auto first = first_gap(std::move(registers), need.registers, registers_);
  const auto bytes = first_gap(std::move(shared), need.shared_bytes, shared_bytes_);
  if (!first || !bytes) return std::nullopt;
  return BlockRoom{0, 0, {*first, need.registers}, {*bytes, need.shared_bytes}};
}

BlockRoom* SmPlaces::find_away(std::uint32_t grid, std::uint64_t block) {
  const auto room = std::find_if(rooms_.begin(), rooms_.end(), [&](const BlockRoom& other) {
    return other.away && other.grid == grid && other.block == block;
  });
  return room == rooms_.end() ? nullptr : &*room;
}

void SmPlaces::enter(std::uint32_t grid, std::uint64_t block, const BlockResources& need,
                     const std::optional<BlockPosition>& at) {
  BlockResources lacking = need;
  BlockRoom* const away = find_away(grid, block);
  if (away != nullptr) lacking -= kept(grid, block);
  const BlockRoom found = at ? room_at(*at, need) : find(lacking).value_or(BlockRoom{});
  BlockRoom& room = away != nullptr ? *away : rooms_.emplace_back();
  room.grid = grid;
  room.block = block;
  room.away = false;
  if (room.registers.size == 0) room.registers = found.registers;
  if (room.shared.size == 0) room.shared = found.shared;
}

BlockPosition SmPlaces::position_of(std::uint32_t grid, std::uint64_t block) const {
  const auto room = std::find_if(rooms_.begin(), rooms_.end(), [&](const BlockRoom& other) {
    return other.grid == grid && other.block == block;
  });
  LOCKSTEP_CHECK(room != rooms_.end(), "a block has no place");
  return {room->registers.begin, room->shared.begin};
}

void SmPlaces::leave(std::uint32_t grid, std::uint64_t block, std::uint8_t keeps) {
  std::erase_if(rooms_, [&](BlockRoom& room) {
    if (room.grid != grid || room.block != block) return false;
    if ((keeps & in_place::registers) == 0) room.registers = {};
    if ((keeps & in_place::shared) == 0) room.shared = {};
    room.away = room.registers.size + room.shared.size > 0;
    return !room.away;
  });
}

BlockResources SmPlaces::kept(std::uint32_t grid, std::uint64_t block) const {
  BlockResources kept;
  for (const BlockRoom& room : rooms_) {
    if (!room.away || room.grid != grid || room.block != block) continue;
    kept.registers = room.registers.size;
    kept.shared_bytes = room.shared.size;
  }
  return kept;
}

std::optional<std::uint32_t> SmPlaces::keeper() const {
  const auto room =
      std::find_if(rooms_.begin(), rooms_.end(), [](const auto& r) { return r.away; });
  return room == rooms_.end() ? std::nullopt : std::optional(room->grid);
}

std::vector<BlockRoom> SmPlaces::rooms_of(std::uint32_t grid) const {
  std::vector<BlockRoom> rooms;
  std::copy_if(rooms_.begin(), rooms_.end(), std::back_inserter(rooms),
               [&](const BlockRoom& room) { return room.grid == grid && !room.away; });
  return rooms;
}

std::optional<std::vector<std::uint64_t>> SmPlaces::candidate(std::uint32_t i,
                                                              const BlockResources& need,
                                                              std::uint32_t grid) const {
  const BlockRoom wanted = place(i, need);
  std::vector<std::uint64_t> blocks;
  for (const BlockRoom& room : rooms_) {
    if (!room.overlaps(wanted)) continue;
    if (room.grid != grid) return std::nullopt;
    blocks.push_back(room.block);
  }
  return blocks;
}

}  // namespace lockstep
