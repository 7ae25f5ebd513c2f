/// Re-reference intervals: the predicted time until each line of a cache is used again, as RRIP
/// policies keep it in a few bits a line.
///
/// A line that is used is expected again at once.  The victim is a line that is expected in the
/// `distant` future; while there is none, all lines of the set grow older together.
/// Source: Jaleel et al., "High performance cache replacement using re-reference interval
/// prediction (RRIP)", ISCA 2010, section 4 (hit priority; victims from the lowest way on).
///
/// Simplified: lines that a cache policy protects grow older with the others, up to `distant`.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "models/memory/cache_line.hpp"

namespace lockstep {

class RereferenceIntervals {
 public:
  RereferenceIntervals(std::uint32_t sets, std::uint32_t ways, std::uint32_t bits)
      : distant_(static_cast<std::uint8_t>((1u << bits) - 1)),
        ways_(ways),
        intervals_(std::size_t{sets} * ways, distant_) {}

  std::uint8_t distant() const { return distant_; }
  /// Returns the interval of a line about which nothing is known; lines of a scan then leave before
  /// lines in use.
  std::uint8_t long_interval() const { return static_cast<std::uint8_t>(distant_ - 1); }

  void use(const CachePlace& place) { at(place) = 0; }
  void install(const CachePlace& place, std::uint8_t interval) { at(place) = interval; }

  /// Returns the interval that a cache policy asks for; `usual` is the replacement policy's own.
  std::uint8_t interval(CachePosition position, std::uint8_t usual) const {
    switch (position) {
      case CachePosition::usual:
        return usual;
      case CachePosition::most_recent:
        return 0;
      case CachePosition::middle:
        return long_interval();
      case CachePosition::next_to_go:
        return distant_;
    }
    return usual;
  }

  /// Ages the set until one of the candidates is distant, and returns the first such candidate.
  std::uint32_t victim(std::uint32_t set, std::uint64_t candidates) {
    std::uint8_t* of_set = &intervals_[std::size_t{set} * ways_];
    std::uint8_t oldest = 0;
    std::uint32_t victim = 0;
    for (std::uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
      const auto way = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (rest != candidates && of_set[way] <= oldest) continue;
      oldest = of_set[way];
      victim = way;
    }
    const auto growth = static_cast<std::uint8_t>(distant_ - oldest);
    for (std::uint32_t way = 0; growth != 0 && way < ways_; ++way)
      of_set[way] = std::min(distant_, static_cast<std::uint8_t>(of_set[way] + growth));
    return victim;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(intervals_);
  }

 private:
  std::uint8_t& at(const CachePlace& place) {
    return intervals_[std::size_t{place.set} * ways_ + place.way];
  }

  std::uint8_t distant_;
  std::uint32_t ways_;
  std::vector<std::uint8_t> intervals_;  ///< interval of each way, set by set
};

}  // namespace lockstep
