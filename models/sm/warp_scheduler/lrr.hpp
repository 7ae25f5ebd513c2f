/// Loose round robin: the next warp behind the one that issued last, skipping warps that cannot
/// issue.
///
/// Source: gpu-parameters.md, section 3 (warp scheduler of Volta configurations).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace lockstep {

class LooseRoundRobin {
 public:
  static constexpr auto name = "lrr";
  static constexpr auto documentation = "loose round robin";
  static constexpr bool starves_others = false;

  explicit LooseRoundRobin(unsigned /*schedulers*/) {}

  unsigned choose(unsigned scheduler, std::uint64_t candidates) {
    const std::uint64_t behind = candidates & ~behind_[scheduler];
    const unsigned warp = static_cast<unsigned>(std::countr_zero(behind ? behind : candidates));
    behind_[scheduler] = (std::uint64_t{2} << warp) - 1;
    return warp;
  }
  void added(unsigned, unsigned) {}
  void removed(unsigned, unsigned) {}
  void stalled(unsigned, unsigned) {}

  template <class Archive>
  void serialize(Archive& archive) {
    archive(behind_);
  }

 private:
  /// Slots up to the last one that issued, for each scheduler.
  std::array<std::uint64_t, 8> behind_{};
};

}  // namespace lockstep
