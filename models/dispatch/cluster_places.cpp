#include "models/dispatch/cluster_places.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lockstep {

std::vector<ClusterPlaces::Place> ClusterPlaces::places_in(
    std::uint32_t gpc, const DispatchedGrid& grid,
    const std::function<bool(std::uint32_t)>& may_have) const {
  std::vector<Place> places;
  const std::uint32_t end = topology_.first_sm(gpc + 1).value();
  for (std::uint32_t sm = topology_.first_sm(gpc).value(); sm < end; ++sm) {
    Place& place = places.emplace_back(Place{sm, 0, sms_[sm].on_chip});
    if (sms_[sm].has_staged || !may_have(sm)) continue;
    place.room = sms_.room_for(sm, grid, grids_, grid.cluster_blocks());
  }
  return places;
}

std::vector<std::uint32_t> ClusterPlaces::find(
    const DispatchedGrid& grid, std::uint32_t first_sm,
    const std::function<bool(std::uint32_t)>& may_have) const {
  constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t gpcs = topology_.clusters(), blocks = grid.cluster_blocks();
  const std::uint32_t first_gpc =
      topology_.cluster_of(SmId{static_cast<std::uint16_t>(first_sm % sms_.size())});
  std::vector<std::uint32_t> best;
  std::uint32_t best_most = nobody;
  for (std::uint32_t i = 0; i < gpcs; ++i) {
    std::vector<Place> places = places_in((first_gpc + i) % gpcs, grid, may_have);
    const std::uint64_t room =
        std::accumulate(places.begin(), places.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Place& place) { return sum + place.room; });
    if (room < blocks) continue;
    std::vector<std::uint32_t> chosen;
    std::uint32_t most = 0;
    const auto take = [&](Place& place) {
      --place.room;
      most = std::max(most, ++place.blocks);
      chosen.push_back(place.sm);
    };
    while (chosen.size() < blocks) {
      Place *first = nullptr, *second = nullptr;
      std::uint32_t fewest = nobody;
      for (std::size_t p = 0; blocks - chosen.size() > 1 && p + 1 < places.size(); p += 2) {
        const std::uint32_t fuller = std::max(places[p].blocks, places[p + 1].blocks);
        if (places[p].room == 0 || places[p + 1].room == 0 || fuller >= fewest) continue;
        fewest = fuller;
        first = &places[p];
        second = &places[p + 1];
      }
      for (Place& place : places) {
        if (second != nullptr) break;
        if (place.room == 0 || place.blocks >= fewest) continue;
        fewest = place.blocks;
        first = &place;
      }
      take(*first);
      if (second != nullptr) take(*second);
    }
    if (most >= best_most) continue;
    best_most = most;
    best = std::move(chosen);
  }
  return best;
}

static std::uint64_t blocks_in(const Topology& topology, std::uint32_t gpc, std::uint32_t on_one,
                               const std::function<bool(std::uint32_t)>& may_have) {
  std::uint64_t places = 0;
  const std::uint32_t end = topology.first_sm(gpc + 1).value();
  for (std::uint32_t sm = topology.first_sm(gpc).value(); sm < end; ++sm)
    if (may_have(sm)) places += on_one;
  return places;
}

std::uint64_t clusters_that_fit(const Topology& topology, std::uint32_t cluster_blocks,
                                std::uint32_t on_one,
                                const std::function<bool(std::uint32_t)>& may_have) {
  std::uint64_t clusters = 0;
  for (std::uint32_t gpc = 0; gpc < topology.clusters(); ++gpc)
    clusters += blocks_in(topology, gpc, on_one, may_have) / cluster_blocks;
  return clusters;
}

std::uint64_t most_blocks_in_a_gpc(const Topology& topology, std::uint32_t on_one,
                                   const std::function<bool(std::uint32_t)>& may_have) {
  std::uint64_t most = 0;
  for (std::uint32_t gpc = 0; gpc < topology.clusters(); ++gpc)
    most = std::max(most, blocks_in(topology, gpc, on_one, may_have));
  return most;
}

}  // namespace lockstep
