/// Registers that warps of a block have given back, for other warps of the block (setmaxnreg).
/// Source: PTX ISA 9.0, "setmaxnreg"; modern-isa.md, section 3.5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep {

class SpareRegisters {
 public:
  /// Lowers the warp's registers to `count` a thread; the rest becomes spare. `at_launch`:
  /// registers that each warp began with; `warps`: number of the block's warps.
  void give(std::uint8_t warp, std::uint32_t count, std::uint32_t at_launch, std::uint32_t warps) {
    std::uint16_t& limit = limit_of(warp, at_launch, warps);
    if (count >= limit) return;
    spare_ += limit - count;
    limit = static_cast<std::uint16_t>(count);
  }
  /// Raises the warp's registers to `count` a thread.  Returns whether there were enough spare
  /// ones.
  bool take(std::uint8_t warp, std::uint32_t count, std::uint32_t at_launch, std::uint32_t warps) {
    std::uint16_t& limit = limit_of(warp, at_launch, warps);
    if (count <= limit) return true;
    if (count - limit > spare_) return false;
    spare_ -= count - limit;
    limit = static_cast<std::uint16_t>(count);
    return true;
  }
  /// Returns the most registers that a warp may ever have while each other warp keeps `least`.
  static std::uint32_t most(std::uint32_t at_launch, std::uint32_t warps, std::uint32_t least) {
    return at_launch + (warps - 1) * (at_launch - std::min(at_launch, least));
  }
  bool changed() const { return !limits_.empty(); }
  /// Registers a thread that no warp has.
  std::uint32_t spare() const { return spare_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(limits_, spare_);
  }

 private:
  std::uint16_t& limit_of(std::uint8_t warp, std::uint32_t at_launch, std::uint32_t warps) {
    if (limits_.empty()) limits_.assign(warps, static_cast<std::uint16_t>(at_launch));
    return limits_[warp];
  }

  /// Register limit of each warp in the block; empty: as at launch.
  std::vector<std::uint16_t> limits_;
  std::uint32_t spare_ = 0;  ///< spare registers for a thread of one warp
};

}  // namespace lockstep
