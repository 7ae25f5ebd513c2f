#include "models/dispatch/sm_mirrors.hpp"

#include <bit>

namespace lockstep {

SmMirrors::SmMirrors(std::size_t count, const OccupancyLimits& limits, Placement placement)
    : limits_(limits),
      has_places_(placement != Placement::summed),
      sms_(count),
      open_((count + 63) / 64) {
  for (std::uint32_t sm = 0; sm < size(); ++sm) {
    set_staged(sm, false);
    sms_[sm].places = SmPlaces(limits, placement);
  }
}

std::uint32_t SmMirrors::room_for(std::uint32_t index, const DispatchedGrid& grid,
                                  const DispatchedGrids& returning, std::uint32_t most) const {
  BlockResources used = sms_[index].used;
  SmPlaces places = sms_[index].places;
  for (const DispatchedGrid& other : returning)
    for (std::uint32_t i = other.returning_to(index); i > 0; --i) used += other.block;
  std::uint32_t count = 0;
  while (count < most && used.leaves_room_for(grid.block, limits_) &&
         (!has_places_ || places.has_place(grid.block))) {
    used += grid.block;
    if (has_places_) places.enter(grid.number(), ~std::uint64_t{count}, grid.block);
    ++count;
  }
  return count;
}

void SmMirrors::occupy(std::uint32_t index, std::uint32_t grid, const BlockResources& need,
                       std::uint64_t block, const std::optional<BlockPosition>& at) {
  SmMirror& sm = sms_[index];
  sm.used += need;
  ++sm.on_chip;
  if (!has_places_) return;
  sm.used -= sm.places.kept(grid, block);
  sm.places.enter(grid, block, need, at);
}

void SmMirrors::vacate(std::uint32_t index, const DispatchedGrid& grid, std::uint64_t block,
                       std::uint8_t keeps) {
  SmMirror& sm = sms_[index];
  sm.used -= grid.block;
  --sm.on_chip;
  if (has_places_) {
    sm.places.leave(grid.number(), block, keeps);
    sm.used += sm.places.kept(grid.number(), block);
  }
  if (sm.guest == grid.number() && --sm.guests == 0) sm.guest.reset();
}

void SmMirrors::stage(std::uint32_t index, const DispatchedGrid& grid, std::uint64_t block) {
  SmMirror& sm = sms_[index];
  set_staged(index, true);
  sm.staged = grid.block;
  sm.staged_grid = grid.number();
  sm.staged_block = block;
}

bool SmMirrors::is_staged(const BlockReference& block) const {
  const SmMirror& sm = sms_[block.sm];
  return sm.has_staged && sm.staged_grid == block.grid && sm.staged_block == block.block;
}

void SmMirrors::start_staged(std::uint32_t index) {
  const SmMirror& sm = sms_[index];
  if (has_places_ || !sm.has_staged || !sm.used.leaves_room_for(sm.staged, limits_)) return;
  occupy(index, sm.staged_grid, sm.staged, sm.staged_block, std::nullopt);
  set_staged(index, false);
}

std::uint32_t SmMirrors::next_open(std::uint32_t first) const {
  for (std::uint32_t word = first / 64; word < open_.size(); ++word, first = word * 64)
    if (const std::uint64_t from = open_[word] >> first % 64; from != 0)
      return first + static_cast<std::uint32_t>(std::countr_zero(from));
  return size();
}

void SmMirrors::set_staged(std::uint32_t sm, bool staged) {
  sms_[sm].has_staged = staged;
  const std::uint64_t bit = std::uint64_t{1} << sm % 64;
  open_[sm / 64] = staged ? open_[sm / 64] & ~bit : open_[sm / 64] | bit;
}

}  // namespace lockstep
