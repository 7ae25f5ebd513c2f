/// Greedy then oldest: the warp that issued last goes on as long as it can; then the oldest warp
/// goes.
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
  static constexpr auto name = "gto";
  static constexpr auto documentation = "greedy, then the oldest warp (Rogers et al., MICRO 2012)";
  static constexpr bool starves_others = true;  ///< a greedy scheduler

  /// Gives each of `schedulers` (a power of two) its share of the 64 slots.
  explicit GreedyThenOldest(unsigned schedulers) : share_(64 / schedulers) {}

  unsigned choose(unsigned scheduler, std::uint64_t candidates) {
    Side& side = sides_[scheduler];
    if ((candidates >> side.last) & 1) return side.last;
    if (std::has_single_bit(candidates))
      return side.last = static_cast<std::uint8_t>(std::countr_zero(candidates));
    const std::uint8_t* by_age = warps_of(scheduler);
    for (unsigned i = 0; i < side.count; ++i)
      if ((candidates >> by_age[i]) & 1) return side.last = by_age[i];
    return side.last = static_cast<std::uint8_t>(std::countr_zero(candidates));
  }
  void added(unsigned scheduler, unsigned warp) {
    Side& side = sides_[scheduler];
    warps_of(scheduler)[side.count++] = static_cast<std::uint8_t>(warp);
  }
  void removed(unsigned scheduler, unsigned warp) {
    Side& side = sides_[scheduler];
    std::uint8_t* begin = warps_of(scheduler);
    std::uint8_t* end = begin + side.count;
    std::uint8_t* gone = std::find(begin, end, warp);
    std::copy(gone + 1, end, gone);
    --side.count;
  }
  void stalled(unsigned, unsigned) {}

  template <class Archive>
  void serialize(Archive& archive) {
    archive(by_age_);
    for (Side& side : sides_) archive(side.count, side.last);
  }

 private:
  struct Side {
    std::uint8_t count = 0, last = 0;
  };
  std::uint8_t* warps_of(unsigned scheduler) { return &by_age_[scheduler * share_]; }

  std::array<std::uint8_t, 64> by_age_{};  ///< slots of each scheduler, the oldest first
  std::array<Side, 8> sides_{};
  unsigned share_;
};

}  // namespace lockstep
