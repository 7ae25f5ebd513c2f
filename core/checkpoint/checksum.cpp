#include "core/checkpoint/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace lockstep {

/// Sums four rows of words side by side. Each step is a bijection in the word and in the sum so
/// far.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  constexpr std::size_t row = 4 * sizeof(std::uint64_t);
  std::array<std::uint64_t, 4> sums{bytes.size(), 1, 2, 3};
  const auto add = [&](const std::byte* from, std::size_t size) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), from, size);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = std::rotl((sums[i] ^ words[i]) * odd, 29);
  };
  std::size_t at = 0;
  for (; bytes.size() - at >= row; at += row) add(&bytes[at], row);
  if (at < bytes.size()) add(&bytes[at], bytes.size() - at);
  std::uint64_t result = 0;
  for (const std::uint64_t sum : sums) result = std::rotl((result ^ sum) * odd, 29);
  return result;
}

}  // namespace lockstep
