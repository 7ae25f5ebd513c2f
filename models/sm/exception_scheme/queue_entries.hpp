#pragma once

#include <array>
#include <cstdint>

#include "core/checkpoint/archive.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Entries in the replay queues of an SM's warps, taken from issue to commit.  Without a limit they
/// are not counted.
/// Source: 000, section 3.2, which gives no capacity.
class QueueEntries {
 public:
  /// `limit`: entries of a warp; 0: without limit.
  explicit QueueEntries(std::uint32_t limit) : limit_(limit) {}

  bool limited() const { return limit_ != 0; }
  bool full(WarpSlot warp) const { return limited() && used_[warp.value()] >= limit_; }
  void take(WarpSlot warp) { used_[warp.value()] += limited(); }
  void give_back(WarpSlot warp) { used_[warp.value()] -= limited(); }
  void serialize(Archive& archive) { archive(used_); }

 private:
  std::uint32_t limit_;
  std::array<std::uint16_t, 64> used_{};
};

}  // namespace lockstep
