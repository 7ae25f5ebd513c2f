/// Greedy then oldest: the warp that issued last goes on as long as it can, then the oldest one.
///
/// Source: Rogers et al., "Cache-Conscious Wavefront Scheduling", MICRO 2012, section 4 (GTO);
/// gpu-parameters.md, section 3.
///
/// Simplified: age is the order in which warps got their slots.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace lockstep {

class GreedyThenOldest {
 public:
  unsigned choose(unsigned scheduler, std::uint64_t candidates) {
    Side& side = sides_[scheduler];
    if ((candidates >> side.last) & 1) return side.last;
    if (std::has_single_bit(candidates))
      return side.last = static_cast<std::uint8_t>(std::countr_zero(candidates));
    for (unsigned i = 0; i < side.count; ++i)
      if ((candidates >> side.by_age[i]) & 1) return side.last = side.by_age[i];
    return side.last = static_cast<std::uint8_t>(std::countr_zero(candidates));
  }
  void added(unsigned scheduler, unsigned warp) {
    Side& side = sides_[scheduler];
    side.by_age[side.count++] = static_cast<std::uint8_t>(warp);
  }
  void removed(unsigned scheduler, unsigned warp) {
    Side& side = sides_[scheduler];
    auto* end = side.by_age.begin() + side.count;
    std::copy(std::find(side.by_age.begin(), end, warp) + 1, end,
              std::find(side.by_age.begin(), end, warp));
    --side.count;
  }
  void stalled(unsigned, unsigned) {}

  template <class Archive>
  void serialize(Archive& archive) {
    for (Side& side : sides_) archive(side.by_age, side.count, side.last);
  }

 private:
  struct Side {
    std::array<std::uint8_t, 64> by_age{};
    std::uint8_t count = 0, last = 0;
  };
  std::array<Side, 8> sides_{};
};

}  // namespace lockstep
