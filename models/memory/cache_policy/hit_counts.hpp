#pragma once

#include <cstdint>

namespace lockstep {

/// Hits and lookups, in counters of ten bits that are halved before they overflow.
/// Source: memory-interference.md, sections 3.3.1 and 3.7 (004, section 4.5.5).
class HitCounts {
 public:
  void add(bool hit) {
    ++lookups_;
    hits_ = static_cast<std::uint16_t>(hits_ + hit);
    if ((lookups_ & halving_bit) == 0) return;
    lookups_ >>= 1;
    hits_ >>= 1;
  }
  std::uint32_t lookups() const { return lookups_; }
  std::uint32_t hits() const { return hits_; }
  /// Returns whether the share of hits is at most, or at least, this percentage.
  bool at_most(std::uint32_t percent) const { return hits_ * 100u <= percent * lookups_; }
  bool at_least(std::uint32_t percent) const { return hits_ * 100u >= percent * lookups_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(lookups_, hits_);
  }

 private:
  static constexpr unsigned halving_bit = 512;
  std::uint16_t lookups_ = 0, hits_ = 0;
};

}  // namespace lockstep
