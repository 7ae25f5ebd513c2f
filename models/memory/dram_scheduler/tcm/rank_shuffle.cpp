#include "models/memory/dram_scheduler/tcm/rank_shuffle.hpp"

#include <algorithm>
#include <utility>

#include "core/random/philox.hpp"

namespace lockstep {

void shuffle_by_insertion(std::span<std::uint16_t> order, std::uint64_t step) {
  const std::size_t n = order.size();
  if (n < 2) return;
  const std::size_t steps = step % (2 * n);
  for (std::size_t k = 1; k <= std::min(steps, n); ++k) {
    const auto from = order.end() - static_cast<std::ptrdiff_t>(k);
    std::rotate(from, from + 1, order.end());
  }
  for (std::size_t k = 1; n + k <= steps; ++k) {
    const auto to = order.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::rotate(to, order.end() - 1, order.end());
  }
}

void shuffle_at_random(std::span<std::uint16_t> order, std::uint64_t seed, std::uint64_t step) {
  // key of these random numbers, which belong to no component
  constexpr std::uint32_t purpose = 0x7463'6d00;
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::uint64_t number = random_block(seed, ComponentId::none(),
                                              purpose + static_cast<std::uint32_t>(left), step)[0];
    std::swap(order[left - 1], order[number * left >> 32]);
  }
}

}  // namespace lockstep
