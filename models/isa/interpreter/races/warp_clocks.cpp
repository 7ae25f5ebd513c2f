#include "models/isa/interpreter/races/warp_clocks.hpp"

#include <algorithm>

#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

WarpClocks::WarpClocks(std::uint32_t warps) : warps_(warps) {
  for (Warp& warp : warps_) warp.known.assign(warps, 0);
}

void WarpClocks::teach(std::uint32_t warp, Knowledge& to) {
  Warp& mine = warps_[warp];
  to.resize(warps_.size());
  for (std::size_t w = 0; w < to.size(); ++w) to[w] = std::max(to[w], mine.known[w]);
  to[warp] = std::max(to[warp], mine.clock++);
}

void WarpClocks::learn(std::uint32_t warp, const Knowledge& from) {
  if (from.empty()) return;
  Warp& mine = warps_[warp];
  for (std::size_t w = 0; w < from.size(); ++w) mine.known[w] = std::max(mine.known[w], from[w]);
  mine.together = std::max(mine.together, from[warp]);
}

void WarpClocks::meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t alive) {
  Warp& mine = warps_[warp];
  const Time time = mine.clock++;
  if ((alive & ~lanes) == 0) {
    mine.together = time;
    return;
  }
  mine.pairs.resize(warp_size);
  Row all{};
  for_each_lane(lanes, [&](unsigned lane) {
    for (unsigned other = 0; other < warp_size; ++other)
      all[other] = std::max(all[other], mine.pairs[lane][other]);
  });
  for_each_lane(lanes, [&](unsigned lane) { all[lane] = time; });
  for_each_lane(lanes, [&](unsigned lane) { mine.pairs[lane] = all; });
}

}  // namespace lockstep::isa
