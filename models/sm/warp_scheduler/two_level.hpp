/// Two levels: a small set of active warps issues in round robin; a warp that begins to wait for
/// memory leaves the set, and a ready warp from outside takes its place.
///
/// Source: Narasiman et al., "Improving GPU Performance via Large Warps and Two-Level Warp
/// Scheduling", MICRO 2011, section 4; Gebhart et al., ISCA 2011, section 4 (small active set).
///
/// Simplified: moving a warp between the sets costs no cycles.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/parameters/parameters.hpp"

namespace lockstep {

struct TwoLevelParameters {
  std::uint32_t active_warps;
  static auto schema() {
    return parameters<TwoLevelParameters>().field("active_warps", &TwoLevelParameters::active_warps,
                                                  8, range(1, 64),
                                                  "size of a scheduler's active set", "warps");
  }
};

class TwoLevel {
 public:
  using Parameters = TwoLevelParameters;
  static constexpr auto name = "two-level";
  static constexpr auto documentation =
      "a small active set before the rest (Narasiman et al., MICRO 2011)";
  static constexpr bool starves_others = false;

  TwoLevel(const Parameters& parameters, unsigned /*schedulers*/)
      : limit_(parameters.active_warps) {}

  unsigned choose(unsigned scheduler, std::uint64_t candidates) {
    Side& side = sides_[scheduler];
    std::uint64_t outside = candidates & ~side.active;
    while (outside != 0 && static_cast<std::uint32_t>(std::popcount(side.active)) < limit_) {
      const std::uint64_t behind = outside & ~side.behind_pending;
      const int warp = std::countr_zero(behind ? behind : outside);
      side.behind_pending = (std::uint64_t{2} << warp) - 1;
      side.active |= std::uint64_t{1} << warp;
      outside &= ~(std::uint64_t{1} << warp);
    }
    // The whole active set may be busy with short latencies: then a warp from outside takes the
    // slot.
    std::uint64_t pool = candidates & side.active;
    if (pool == 0) pool = candidates;
    const std::uint64_t behind = pool & ~side.behind;
    const unsigned warp = static_cast<unsigned>(std::countr_zero(behind ? behind : pool));
    side.behind = (std::uint64_t{2} << warp) - 1;
    return warp;
  }
  void added(unsigned, unsigned) {}
  void removed(unsigned scheduler, unsigned warp) { stalled(scheduler, warp); }
  void stalled(unsigned scheduler, unsigned warp) {
    sides_[scheduler].active &= ~(std::uint64_t{1} << warp);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    for (Side& side : sides_) archive(side.active, side.behind, side.behind_pending);
  }

 private:
  struct Side {
    std::uint64_t active = 0, behind = 0, behind_pending = 0;
  };
  std::uint32_t limit_;
  std::array<Side, 8> sides_{};
};

}  // namespace lockstep
