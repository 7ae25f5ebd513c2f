/// MASK's translation-aware bypass: reads of a walk level bypass the L2 if that level hits less
/// often than data do (walk_levels.hpp).
/// Source: 004, section 6.4.3; memory-interference.md, section 5.3.4.
#include <array>

#include "core/statistics/statistics.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/cache_policy/walk_levels.hpp"

namespace lockstep {
namespace {

struct MaskCacheStatistics {
  std::array<Counter, WalkLevels::count> lookups, hits, bypasses;
  static auto schema() {
    using S = MaskCacheStatistics;
    return statistics<S>()
        .counters("lookups", &S::lookups, WalkLevels::names, "requests", "loads that looked up")
        .counters("hits", &S::hits, WalkLevels::names, "requests",
                  "loads that found all sectors in the L2")
        .counters("bypasses", &S::bypasses, WalkLevels::names, "requests",
                  "walk reads that were told to bypass the L2");
  }
};

class MaskCache final : public CachePolicy {
 public:
  explicit MaskCache(const PartitionPolicySetup& setup)
      : CachePolicy(admits | observes),
        walks_(setup.choice.parameters<WalkLevelParameters>(),
               Clock(setup.parameters.clock).period()) {}

  CacheAdmission on_arrival(const MemoryRequest& request, std::uint64_t, Time now) override {
    if (request.walk_level == 0 || !walks_.goes_past(request, now)) return CacheAdmission::to_bank;
    ++statistics_.bypasses[WalkLevels::level_of(request)];
    return CacheAdmission::to_dram;
  }
  void on_lookup(const MemoryRequest& request, CacheLookup found, Time now) override {
    if (!WalkLevels::compares(request)) return;
    const bool hit = found.hits == request.sectors;
    walks_.on_lookup(request, hit, now);
    ++statistics_.lookups[WalkLevels::level_of(request)];
    if (hit) ++statistics_.hits[WalkLevels::level_of(request)];
  }
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override { archive(walks_, statistics_); }

 private:
  WalkLevels walks_;
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
          &schema_of<WalkLevelParameters>()};
}

}  // namespace lockstep
