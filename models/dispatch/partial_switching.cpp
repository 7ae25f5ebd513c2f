#include "models/dispatch/partial_switching.hpp"

#include <algorithm>

#include "core/engine/outbox.hpp"

namespace lockstep {

std::vector<std::uint32_t> fair_parts(std::span<const BlockResources> kernels,
                                      const OccupancyLimits& limits) {
  std::vector<std::uint32_t> parts(kernels.size());
  BlockResources used;
  for (;;) {
    std::optional<std::size_t> next;
    std::uint64_t least = 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::uint64_t share = parts[k] * kernels[k].dominant_share(limits);
      if (!used.leaves_room_for(kernels[k], limits) || (next && share >= least)) continue;
      next = k;
      least = share;
    }
    if (!next) return parts;
    ++parts[*next];
    used += kernels[*next];
  }
}

void PartialSwitching::make_room(std::span<const GridView> views, Time now, Outbox& outbox) {
  if (views.size() < 2) return;
  const auto lacks = [&](std::size_t g) {
    const DispatchedGrid& grid = parts_.grids[g];
    return views[g].ready && grid.waiting() > 0 && !grid.is_to_gather() &&
           std::find(grid.served.begin(), grid.served.end(), false) != grid.served.end();
  };
  fair_.clear();
  for (std::size_t g = 0; g < views.size(); ++g) {
    if (!lacks(g)) continue;
    if (fair_.empty()) find_fair_parts(views);
    make_room_for(parts_.grids[g], fair_[g], now, outbox);
  }
}

void PartialSwitching::find_fair_parts(std::span<const GridView> views) {
  std::vector<BlockResources> ready;
  for (std::size_t g = 0; g < views.size(); ++g)
    if (views[g].ready) ready.push_back(parts_.grids[g].block);
  const std::vector<std::uint32_t> parts = fair_parts(ready, parts_.limits);
  auto next = parts.begin();
  for (const GridView& view : views) fair_.push_back(view.ready ? *next++ : 0);
}

std::uint64_t PartialSwitching::coming(const DispatchedGrid& grid) const {
  std::uint64_t places = 0;
  for (std::uint32_t sm = 0; sm < parts_.sms.size() && places < grid.waiting(); ++sm) {
    if (!parts_.takeovers.is_stopping(sm))
      places += room_without(sm, grid, {}, grid, parts_.limits.blocks);
    else if (parts_.takeovers.urgent_at(sm) == grid.number())
      places += parts_.takeovers.places_at(sm);
  }
  return places;
}

bool PartialSwitching::is_busy(std::uint32_t sm) const {
  if (parts_.takeovers.is_stopping(sm)) return true;
  return std::any_of(parts_.grids.begin(), parts_.grids.end(), [&](const DispatchedGrid& grid) {
    return grid.away[sm] > 0 ||
           std::any_of(grid.in_hand.begin(), grid.in_hand.end(),
                       [&](const BlockInHand& one) { return one.block.block.sm == sm; });
  });
}

void PartialSwitching::make_room_for(DispatchedGrid& grid, std::uint32_t part, Time now,
                                     Outbox& outbox) {
  std::uint64_t wanted = grid.waiting() - std::min(grid.waiting(), coming(grid));
  for (std::uint32_t sm = 0; sm < parts_.sms.size() && wanted > 0; ++sm) {
    if (grid.served[sm] || is_busy(sm)) continue;
    grid.served[sm] = true;
    const std::uint32_t here = count_at(sm, grid) + room_without(sm, grid, {}, grid, part);
    if (here >= part) continue;
    DispatchedGrid* victim = nullptr;
    std::uint64_t most = 0;
    for (std::size_t g = 0; g < parts_.grids.size(); ++g) {
      const std::uint32_t has = count_at(sm, parts_.grids[g]);
      const std::uint64_t above = (has - std::min(has, fair_[g])) * parts_.grids[g].block_share;
      if (above <= most) continue;
      most = above;
      victim = &parts_.grids[g];
    }
    if (victim == nullptr) continue;
    const auto places = static_cast<std::uint32_t>(std::min<std::uint64_t>(part - here, wanted));
    const auto above = static_cast<std::uint32_t>(most / victim->block_share);
    const SmRelease release = release_for(sm, *victim, above, grid, places);
    if (release.places == 0) continue;
    take(sm, *victim, grid, release, now, outbox);
    wanted -= release.places;
  }
}

std::uint32_t PartialSwitching::room_without(std::uint32_t index, const DispatchedGrid& victim,
                                             std::span<const BlockRoom> leave,
                                             const DispatchedGrid& grid, std::uint32_t most) const {
  BlockResources used = parts_.sms[index].used;
  SmPlaces places = parts_.sms[index].places;
  for (const BlockRoom& room : leave) {
    used -= victim.block;
    places.leave(room.grid, room.block);
  }
  std::uint32_t count = 0;
  while (count < most && used.leaves_room_for(grid.block, parts_.limits) &&
         places.has_place(grid.block)) {
    used += grid.block;
    places.enter(grid.number(), ~std::uint64_t{count}, grid.block);
    ++count;
  }
  return count;
}

SmRelease PartialSwitching::release_for(std::uint32_t sm, const DispatchedGrid& victim,
                                        std::uint32_t at_most, const DispatchedGrid& grid,
                                        std::uint32_t places) const {
  std::vector<BlockRoom> rooms = parts_.sms[sm].places.rooms_of(victim.number());
  std::sort(rooms.begin(), rooms.end(), [](const BlockRoom& a, const BlockRoom& b) {
    return std::pair(a.registers.begin, a.shared.begin) >
           std::pair(b.registers.begin, b.shared.begin);
  });
  rooms.resize(std::min<std::size_t>(rooms.size(), at_most));
  const std::uint32_t there = room_without(sm, victim, {}, grid, parts_.limits.blocks);
  const std::uint32_t most = room_without(sm, victim, rooms, grid, there + places);
  SmRelease release;
  release.places = most - there;
  if (release.places == 0) return release;
  std::size_t count = 1;
  while (room_without(sm, victim, std::span(rooms).first(count), grid, most) < most) ++count;
  for (std::size_t i = 0; i < count; ++i)
    release.blocks.push_back({{rooms[i].block, Technique::save, 0, {}}, Time::never(), 0, {}});
  return release;
}

void PartialSwitching::take(std::uint32_t sm, DispatchedGrid& victim, const DispatchedGrid& grid,
                            const SmRelease& release, Time now, Outbox& outbox) {
  std::vector<BlockCommand> commands;
  for (const SmRelease::Block& block : release.blocks) commands.push_back(block.command);
  victim.stopped_at[sm] = true;
  victim.keeps[sm] = false;
  outbox.send(parts_.to_sms[sm], now, kind_of(MessageKind::stop_grid),
              GridStop{victim.number(), Technique::drain, {}}, std::as_bytes(std::span(commands)));
  parts_.takeovers.begin(sm, victim.launch, grid.launch, release, now);
}

std::optional<std::size_t> PartialSwitching::choose(const Sharing& sharing,
                                                    std::span<const GridView> views,
                                                    std::uint32_t sm, Offer offer) {
  if (parts_.takeovers.is_stopping(sm)) return std::nullopt;
  here_.assign(views.begin(), views.end());
  for (std::size_t g = 0; g < views.size(); ++g) {
    const DispatchedGrid& grid = parts_.grids[g];
    if (grid.arriving[sm] > 0) return std::nullopt;
    const std::uint64_t away = grid.all_away + grid.in_hand.size();
    here_[g].blocks_running -= away + grid.saved_clusters.blocks();
    if (offer == Offer::returns) here_[g].blocks_waiting = 0;
    if (grid.is_bringing_back() || grid.sm_to_ask() || (grid.stopped_at[sm] && grid.away[sm] > 0))
      here_[g].blocks_waiting += away;
  }
  const auto choice = sharing.choose(here_, SmId{static_cast<std::uint16_t>(sm)});
  if (!choice) return choice;
  const DispatchedGrid& grid = parts_.grids[*choice];
  // Saved blocks of the grid return first.
  return grid.stopped_at[sm] || grid.away[sm] == 0 ? choice : std::nullopt;
}

void PartialSwitching::left(std::uint32_t sm, Time now) {
  if (!parts_.takeovers.is_released(sm)) return;
  parts_.takeovers.entered(sm, now);
  parts_.takeovers.end(sm);
}

}  // namespace lockstep
