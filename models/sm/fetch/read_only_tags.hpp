#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Tags of a cache that is never written: sets of a few lines, with the line used last in front.
class ReadOnlyTags {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  struct Line {
    std::uint32_t number = none;
    bool ahead = false;  ///< prefetched and not used yet
    SmCycle ready;       ///< cycle from which the line can be read

    template <class A>
    void serialize(A& archive) {
      archive(number, ahead, ready);
    }
  };
  ReadOnlyTags(std::uint64_t lines, std::uint32_t ways)
      : ways_(ways), sets_(static_cast<std::uint32_t>(lines) / ways), lines_(lines) {}

  /// Returns the line and makes it the most recently used one of its set; nullptr: it is absent.
  Line* find(std::uint32_t number) {
    Line* set = set_of(number);
    for (std::uint32_t way = 0; way < ways_; ++way)
      if (set[way].number == number) {
        std::rotate(set, set + way, set + way + 1);
        return set;
      }
    return nullptr;
  }
  /// Fills the line, to be used from `ready` on.  A line that was absent replaces the least
  /// recently used one of its set.
  void fill(std::uint32_t number, SmCycle ready, bool ahead = false) {
    if (find(number) != nullptr) return;
    Line* set = set_of(number);
    std::rotate(set, set + ways_ - 1, set + ways_);
    *set = {number, ahead, ready};
  }

  void serialize(Archive& archive) { archive(lines_); }

 private:
  Line* set_of(std::uint32_t number) { return &lines_[std::size_t{number % sets_} * ways_]; }

  std::uint32_t ways_, sets_;
  std::vector<Line> lines_;
};

}  // namespace lockstep
