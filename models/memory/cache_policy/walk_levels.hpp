/// Levels of page walks that hit less often in the L2 than data do: reads of these levels bypass
/// the L2.
///
/// The counts of an epoch decide.  One of `probe` reads of a bypassing level still looks up, so
/// that the level is measured.
/// Source: 004, section 6.4.3; memory-interference.md, section 5.3.4.
///
/// Simplified: a level, or data, with fewer than `least` lookups in an epoch keeps its last
/// verdict.
#pragma once

#include <algorithm>
#include <array>

#include "core/parameters/parameters.hpp"
#include "models/memory/cache_policy/period.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

struct WalkLevelParameters {
  Cycles epoch;
  std::uint32_t probe = 0, least = 0;
  static auto schema() {
    using namespace literals;
    using P = WalkLevelParameters;
    return parameters<P>()
        .field("epoch", &P::epoch, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "L2 cycles after which levels are judged anew")
        .field("probe", &P::probe, 32, range(2, 1'000'000),
               "one in this many reads of a level that goes past the L2 looks up all the same",
               "requests")
        .field("least", &P::least, 100, range(1, 1'000'000),
               "number of lookups by which a level is judged", "requests");
  }
};

class WalkLevels {
 public:
  static constexpr std::size_t count = 8;  ///< levels counted; 0: data, 7: level 7 and deeper
  static constexpr const char* names[count] = {"data",    "level_1", "level_2", "level_3",
                                               "level_4", "level_5", "level_6", "deeper"};

  /// `cycle`: cycle of the L2.
  WalkLevels(const WalkLevelParameters& parameters, Time cycle)
      : parameters_(parameters), epoch_(cycle * parameters.epoch.count()) {}

  static std::size_t level_of(const MemoryRequest& request) {
    return std::min<std::size_t>(request.walk_level, count - 1);
  }
  /// Returns whether the request counts in the comparison: loads of walks and of warps do.
  static bool compares(const MemoryRequest& request) {
    const bool of_warp =
        request.source == SourceKind::sm && (request.flags & (flag_context | flag_code)) == 0;
    return request.operation == MemoryOperation::load && (request.walk_level != 0 || of_warp);
  }

  /// A read of a walk arrives.  True: past the L2.
  bool goes_past(const MemoryRequest& request, Time now) {
    if (epoch_.begun(now)) judge();
    Level& level = levels_[level_of(request)];
    return level.past && ++level.reads % parameters_.probe != 0;
  }
  /// Counts a lookup of a request that is compared: a read of a walk or of data.
  void on_lookup(const MemoryRequest& request, bool hit, Time now) {
    if (epoch_.begun(now)) judge();
    Level& level = levels_[level_of(request)];
    ++level.lookups;
    level.hits += hit;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(epoch_, levels_);
  }

 private:
  struct Level {
    std::uint64_t lookups = 0, hits = 0;  ///< counts of this epoch
    std::uint64_t reads = 0;              ///< reads while the level bypasses the L2
    bool past = false;
    template <class A>
    void serialize(A& archive) {
      archive(lookups, hits, reads, past);
    }
  };

  void judge() {
    const Level& data = levels_[0];
    for (std::size_t i = 1; i < count; ++i) {
      Level& level = levels_[i];
      if (level.lookups >= least(level) && data.lookups >= parameters_.least)
        level.past = level.hits * data.lookups < data.hits * level.lookups;
    }
    for (Level& level : levels_) level.lookups = level.hits = 0;
  }
  /// Returns the number of lookups needed to judge a level: fewer for a bypassing level, since only
  /// some of its reads look up.
  std::uint64_t least(const Level& level) const {
    return level.past ? (parameters_.least + parameters_.probe - 1) / parameters_.probe
                      : parameters_.least;
  }

  WalkLevelParameters parameters_;
  Period epoch_;
  std::array<Level, count> levels_{};
};

}  // namespace lockstep
