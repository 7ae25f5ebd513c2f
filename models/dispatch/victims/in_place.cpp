#include "models/dispatch/victims/in_place.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "models/noc/grid_messages.hpp"

namespace lockstep {

std::vector<std::size_t> in_the_way(std::span<const ResourceRange> running, std::uint32_t wanted,
                                    std::uint32_t end) {
  if (wanted == 0) return {};
  std::set<std::uint32_t> begins{0, end - wanted};
  for (const ResourceRange& range : running) {
    const std::uint32_t behind = range.begin + range.size;
    if (behind + wanted <= end) begins.insert(behind);
    if (range.begin >= wanted) begins.insert(range.begin - wanted);
  }
  std::optional<std::pair<std::size_t, std::uint64_t>> least;
  std::vector<std::size_t> best;
  for (const std::uint32_t begin : begins) {
    const ResourceRange room{begin, wanted};
    std::vector<std::size_t> there;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (running[i].size == 0 || !running[i].overlaps(room)) continue;
      there.push_back(i);
      size += running[i].size;
    }
    const std::pair cost(there.size(), size);
    if (least && *least <= cost) continue;
    least = cost;
    best = std::move(there);
  }
  return best;
}

std::vector<std::uint8_t> kept_in_place(std::span<const BlockRoom> running,
                                        const BlockResources& need, std::uint32_t count,
                                        const OccupancyLimits& limits) {
  std::vector<ResourceRange> registers, shared;
  for (const BlockRoom& room : running) {
    registers.push_back(room.registers);
    shared.push_back(room.shared);
  }
  std::vector<std::uint8_t> kept(running.size(), in_place::registers | in_place::shared);
  for (const std::size_t i : in_the_way(registers, count * need.registers, limits.registers))
    kept[i] &= ~in_place::registers;
  for (const std::size_t i : in_the_way(shared, count * need.shared_bytes, limits.shared_bytes))
    kept[i] &= ~in_place::shared;
  return kept;
}

}  // namespace lockstep
