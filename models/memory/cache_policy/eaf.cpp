/// Evicted-address filter: a line that left not long ago becomes the most recently used one; any
/// other line becomes the next to go, except for one in 64.
///
/// Source: 004, section 4.4 (EAF, against which MeDiC is compared); memory-interference.md, section
/// 3.2 (Seshadri et al., PACT 2012).
#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/cache_policy/evicted_filter.hpp"

namespace lockstep {
namespace {

struct EafParameters {
  std::uint32_t recent = 0;
  static auto schema() {
    return parameters<EafParameters>().field(
        "recent", &EafParameters::recent, 64, range(1, 1'000'000),
        "one in this many lines that the filter does not know is kept like a known line", "lines");
  }
};

struct EafStatistics {
  Counter known, chosen, next_to_go;
  static auto schema() {
    using S = EafStatistics;
    return statistics<S>()
        .counter("known", &S::known, "lines", "inserted lines that had been evicted recently")
        .counter("chosen", &S::chosen, "lines",
                 "other lines that were inserted like these by chance")
        .counter("next_to_go", &S::next_to_go, "lines", "lines that came in as the next to go");
  }
};

class Eaf final : public CachePolicy {
 public:
  explicit Eaf(const PartitionPolicySetup& setup)
      : CachePolicy(inserts | mourns),
        recent_(setup.choice.parameters<EafParameters>().recent),
        random_(setup.random(0)),
        evicted_(std::uint64_t{setup.parameters.l2.total_banks()} *
                 setup.parameters.l2.sets_per_bank() * setup.parameters.l2.ways) {}

  CacheInsertion on_insertion(const MemoryRequest&, std::uint64_t line, Time) override {
    const bool known = evicted_.has(line);
    const bool chosen = !known && random_.below(recent_) == 0;
    ++(known ? statistics_.known : chosen ? statistics_.chosen : statistics_.next_to_go);
    return {.position = known || chosen ? CachePosition::most_recent : CachePosition::next_to_go};
  }
  void on_eviction(std::uint64_t line, std::uint8_t) override { evicted_.add(line); }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override { archive(random_, evicted_, statistics_); }

 private:
  const std::uint32_t recent_;
  Random random_;
  EvictedFilter evicted_;
  EafStatistics statistics_;
};

}  // namespace

PolicyRegistry<CachePolicyFactory>::Row eaf_cache_policy() {
  return {"eaf",
          "lines that came back are kept, others go next (004, section 4.4)",
          {.make = [](const PartitionPolicySetup& setup) -> std::unique_ptr<CachePolicy> {
             return std::make_unique<Eaf>(setup);
           },
           .statistics = &statistics_schema_of<EafStatistics>},
          &schema_of<EafParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{}, {needs_order_of_lines("says which lines go next")}};
          }};
}

}  // namespace lockstep
