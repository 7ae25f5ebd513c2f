#pragma once

// Reference of the workload nearest_neighbour.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::nearest_neighbour {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto place = buffers.as<float>("place");
  const auto distance = buffers.as<float>("distance");
  for (std::size_t i = 0; i < distance.size(); ++i) {
    const float north = place[2 * i] - real(parameters, "latitude");
    const float east = place[2 * i + 1] - real(parameters, "longitude");
    distance[i] = std::sqrt(std::fma(north, north, east * east));
  }
  const auto nearest = std::ranges::min_element(distance);
  const auto number = static_cast<std::uint64_t>(nearest - distance.begin());
  buffers.as<std::uint64_t>("nearest")[0] =
      std::uint64_t{std::bit_cast<std::uint32_t>(*nearest)} << 32 | number;
}

}  // namespace lockstep::reference::nearest_neighbour
