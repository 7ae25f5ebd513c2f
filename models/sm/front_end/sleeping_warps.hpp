#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/blocks/warp_set.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Warps in `nanosleep`, which may leave their slots asleep. The event that wakes a warp names its
/// slot and cannot be taken back. If the warp has left, the event has no effect.
class SleepingWarps {
 public:
  void begin(WarpSlot warp, SmCycle until) {
    asleep_ |= bit_of(warp);
    until_[warp.value()] = until;
  }
  bool asleep(WarpSlot warp) const { return (asleep_ & bit_of(warp)) != 0; }
  SmCycle until(WarpSlot warp) const { return until_[warp.value()]; }
  /// The warp leaves its slot.
  void leave(WarpSlot warp) {
    if (!asleep(warp)) return;
    asleep_ &= ~bit_of(warp);
    orphans_.push_back({warp, until_[warp.value()]});
  }
  /// Wakes the warp in the slot. Returns false if the event belongs to a warp that has left.
  bool wake(WarpSlot warp, SmCycle now) {
    const auto orphan = std::find_if(orphans_.begin(), orphans_.end(), [&](const Orphan& other) {
      return other.warp == warp && other.at == now;
    });
    if (orphan != orphans_.end()) {
      orphans_.erase(orphan);
      return false;
    }
    asleep_ &= ~bit_of(warp);
    return true;
  }

  void serialize(Archive& archive) { archive(asleep_, until_, orphans_); }

 private:
  struct Orphan {
    WarpSlot warp;
    SmCycle at;
    void serialize(Archive& archive) { archive(warp, at); }
  };
  std::uint64_t asleep_ = 0;
  std::array<SmCycle, 64> until_{};
  std::vector<Orphan> orphans_;
};

}  // namespace lockstep
