/// MASK's translation-aware bypass: reads of a walk's level that hits less often than data do go
/// past the L2.
///
/// Each epoch is judged by what was counted in it; one of 32 reads of a level that goes past looks
/// up, so that the level is measured all the same.
/// Source: 004, section 6.4.3; memory-interference.md, section 5.3.4.
///
/// Simplified: a level, or data, with fewer than 100 lookups in an epoch stays judged as it was.
#include <array>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/cache_policy/period.hpp"

namespace lockstep {
namespace {

constexpr std::size_t levels = 8;  ///< 0: data; 7: level 7 and deeper

struct MaskCacheParameters {
  Cycles epoch;
  std::uint32_t probe = 0, least = 0;
  static auto schema() {
    using namespace literals;
    using P = MaskCacheParameters;
    return parameters<P>()
        .field("epoch", &P::epoch, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "L2 cycles after which levels are judged anew")
        .field("probe", &P::probe, 32, range(2, 1'000'000),
               "of so many reads of a level that goes past the L2 one looks up", "requests")
        .field("least", &P::least, 100, range(1, 1'000'000), "lookups by which a level is judged",
               "requests");
  }
};

struct MaskCacheStatistics {
  std::array<Counter, levels> lookups, hits, bypasses;
  static auto schema() {
    using S = MaskCacheStatistics;
    constexpr const char* names[levels] = {"data",    "level_1", "level_2", "level_3",
                                           "level_4", "level_5", "level_6", "deeper"};
    return statistics<S>()
        .counters("lookups", &S::lookups, names, "requests", "loads that looked up")
        .counters("hits", &S::hits, names, "requests", "of those, with all sectors there")
        .counters("bypasses", &S::bypasses, names, "requests", "walk reads told to go past");
  }
};

class MaskCache final : public CachePolicy {
 public:
  explicit MaskCache(const PartitionPolicySetup& setup)
      : CachePolicy(admits | observes),
        parameters_(setup.choice.parameters<MaskCacheParameters>()),
        epoch_(Clock(setup.parameters.clock).period() * parameters_.epoch.count()) {}

  CacheAdmission on_arrival(const MemoryRequest& request, std::uint64_t, Time now) override {
    if (request.walk_level == 0) return CacheAdmission::to_bank;
    if (epoch_.begun(now)) judge();
    Level& level = levels_[level_of(request)];
    if (!level.past || ++level.reads % parameters_.probe == 0) return CacheAdmission::to_bank;
    ++statistics_.bypasses[level_of(request)];
    return CacheAdmission::to_dram;
  }
  void on_lookup(const MemoryRequest& request, std::uint8_t hits, Time now) override {
    const bool of_warp = request.source == SourceKind::sm && (request.flags & flag_context) == 0;
    if (request.operation != MemoryOperation::load || (request.walk_level == 0 && !of_warp)) return;
    if (epoch_.begun(now)) judge();
    const std::size_t number = level_of(request);
    const bool hit = hits == request.sectors;
    ++levels_[number].lookups;
    levels_[number].hits += hit;
    ++statistics_.lookups[number];
    if (hit) ++statistics_.hits[number];
  }
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override { archive(epoch_, levels_, statistics_); }

 private:
  struct Level {
    std::uint64_t lookups = 0, hits = 0;  ///< in this epoch
    std::uint64_t reads = 0;              ///< while it goes past
    bool past = false;
    template <class A>
    void serialize(A& archive) {
      archive(lookups, hits, reads, past);
    }
  };

  static std::size_t level_of(const MemoryRequest& request) {
    return std::min<std::size_t>(request.walk_level, levels - 1);
  }

  void judge() {
    const Level& data = levels_[0];
    for (std::size_t i = 1; i < levels; ++i) {
      Level& level = levels_[i];
      if (level.lookups >= least(level) && data.lookups >= parameters_.least)
        level.past = level.hits * data.lookups < data.hits * level.lookups;
    }
    for (Level& level : levels_) level.lookups = level.hits = 0;
  }
  /// Of a level that goes past, only some reads look up.
  std::uint64_t least(const Level& level) const {
    return level.past ? (parameters_.least + parameters_.probe - 1) / parameters_.probe
                      : parameters_.least;
  }

  const MaskCacheParameters parameters_;
  Period epoch_;
  std::array<Level, levels> levels_{};
  MaskCacheStatistics statistics_;
};

}  // namespace

PolicyRegistry<CachePolicyFactory>::Row mask_cache_policy() {
  return {"mask",
          "levels of walks that hit less often than data bypass (004, section 6.4.3)",
          {.make = [](const PartitionPolicySetup& setup) -> std::unique_ptr<CachePolicy> {
             return std::make_unique<MaskCache>(setup);
           },
           .statistics = &statistics_schema_of<MaskCacheStatistics>},
          &schema_of<MaskCacheParameters>()};
}

}  // namespace lockstep
