#include "models/fragmentation/foreign_pages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/random/random.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {
namespace {

/// Component number for random draws; no component has this number.
constexpr ComponentId drawer{0xffff'fffe};

/// Draws `count` of the numbers below `bound`, without repetition, ascending.
std::vector<std::uint64_t> draw(std::uint64_t count, std::uint64_t bound, Random& random) {
  std::vector<std::uint64_t> numbers(bound);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  for (std::uint64_t i = 0; i < count; ++i)
    std::swap(numbers[i], numbers[i + random.below(bound - i)]);
  numbers.resize(count);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::uint64_t share(double part, std::uint64_t whole) {
  return static_cast<std::uint64_t>(std::llround(part * static_cast<double>(whole)));
}

/// Applies the finaliser of SplitMix64.
std::uint64_t mixed(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

}  // namespace

std::vector<Frame> foreign_pages(const FragmentationParameters& parameters, std::uint64_t bytes,
                                 std::uint64_t seed) {
  std::vector<Frame> pages;
  const std::uint64_t large_frames = bytes / large_page_bytes;
  const std::uint64_t in_each = share(parameters.occupancy, pages_per_large);
  if (in_each == 0) return pages;
  Random random(seed, drawer, 0);
  for (const std::uint64_t frame :
       draw(share(parameters.index, large_frames), large_frames, random))
    for (const std::uint64_t place : draw(in_each, pages_per_large, random))
      if (frame + place > 0) pages.emplace_back(frame * pages_per_large + place);
  return pages;
}

void write_foreign_bytes(std::uint64_t page, std::uint64_t offset, std::span<std::byte> out) {
  constexpr std::uint64_t size = sizeof(std::uint64_t);
  for (std::uint64_t at = 0; at < out.size(); at += size) {
    const std::uint64_t word = mixed((page * page_bytes + offset + at) / size);
    std::memcpy(out.data() + at, &word, size);
  }
}

std::optional<std::uint64_t> find_damaged_page(std::span<const std::byte> bytes) {
  std::array<std::byte, page_bytes> expected;
  for (std::uint64_t page = 0; page < bytes.size() / page_bytes; ++page) {
    write_foreign_bytes(page, 0, expected);
    if (std::memcmp(bytes.data() + page * page_bytes, expected.data(), page_bytes) != 0)
      return page;
  }
  return std::nullopt;
}

}  // namespace lockstep
