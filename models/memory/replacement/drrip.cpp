/// Dynamic re-reference interval prediction (DRRIP): new lines follow SRRIP's rule or BRRIP's,
/// whichever misses less.
///
/// BRRIP (bimodal) predicts a distant use for all new lines except one in `bimodal`, so that a part
/// of a working set larger than the cache stays.  Some sets always follow one rule and some the
/// other; a counter of their misses decides for the rest.
/// Source: Jaleel et al., ISCA 2010, sections 4.3 and 4.4 (set duelling, counter of 10 bits, 32
/// leading sets for each rule).
///
/// Simplified: a miss counts when its line comes in.  At most a quarter of the sets lead for each
/// rule: the L2 of a partition has few sets.
#include <algorithm>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/replacement/replacement.hpp"
#include "models/memory/replacement/rereference.hpp"

namespace lockstep {
namespace {

struct DrripParameters {
  std::uint32_t bits = 0, leaders = 0, bimodal = 0;
  static auto schema() {
    using P = DrripParameters;
    return parameters<P>()
        .field("bits", &P::bits, 2, range(1, 7), "bits of a line's re-reference interval", "bits")
        .field("leaders", &P::leaders, 32, range(1, 4096),
               "sets of a partition that always follow one rule, for each of the two", "sets")
        .field(
            "bimodal", &P::bimodal, 32, range(1, 1'000'000),
            "one in this many lines that come in by the bimodal rule stays as by the static rule",
            "lines");
  }
};

struct DrripStatistics {
  Counter by_static, by_bimodal;
  static auto schema() {
    using S = DrripStatistics;
    return statistics<S>()
        .counter("by_static", &S::by_static, "lines",
                 "lines that came in by the static rule in sets that do not lead")
        .counter("by_bimodal", &S::by_bimodal, "lines",
                 "lines that came in by the bimodal rule in sets that do not lead");
  }
};

class Drrip final : public Replacement {
 public:
  explicit Drrip(const PartitionPolicySetup& setup)
      : Drrip(setup, setup.choice.parameters<DrripParameters>()) {}

  void on_use(const CachePlace& place, const MemoryRequest&) override { intervals_.use(place); }
  void on_install(const CachePlace& place, const MemoryRequest&, CachePosition position) override {
    intervals_.install(place, intervals_.interval(position, interval_in(place.set)));
  }
  std::uint32_t victim(std::uint32_t set, std::uint32_t, std::span<const CacheWay>,
                       std::uint64_t candidates) override {
    return intervals_.victim(set, candidates);
  }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override {
    archive(intervals_, random_, static_misses_, statistics_);
  }

 private:
  enum class Rule : std::uint8_t { fixed, bimodal };
  static constexpr std::uint32_t most = 1023, middle = 512;

  Drrip(const PartitionPolicySetup& setup, const DrripParameters& p)
      : Replacement(uses | installs | chooses),
        bimodal_(p.bimodal),
        stride_(std::max(4u, sets_of_partition(setup.parameters.l2) / p.leaders)),
        intervals_(sets_of_partition(setup.parameters.l2), setup.parameters.l2.ways, p.bits),
        random_(setup.random(1)) {}

  /// Counts the miss that brought a line to the set, and returns the line's interval.
  std::uint8_t interval_in(std::uint32_t set) {
    Rule rule = static_misses_ < middle ? Rule::fixed : Rule::bimodal;
    if (set % stride_ == 0) {
      rule = Rule::fixed;
      static_misses_ = std::min(most, static_misses_ + 1);
    } else if (set % stride_ == stride_ / 2) {
      rule = Rule::bimodal;
      static_misses_ -= static_misses_ != 0;
    } else {
      ++(rule == Rule::fixed ? statistics_.by_static : statistics_.by_bimodal);
    }
    const bool stays = rule == Rule::fixed || random_.below(bimodal_) == 0;
    return stays ? intervals_.long_interval() : intervals_.distant();
  }

  const std::uint32_t bimodal_, stride_;
  RereferenceIntervals intervals_;
  Random random_;
  /// Misses of leading sets, less those of bimodal sets.
  std::uint32_t static_misses_ = middle - 1;
  DrripStatistics statistics_;
};

}  // namespace

PolicyRegistry<ReplacementFactory>::Row drrip_replacement() {
  return {"drrip",
          "srrip, or its bimodal form where that misses less (Jaleel et al. 2010)",
          {.make = [](const PartitionPolicySetup& setup) -> std::unique_ptr<Replacement> {
             return std::make_unique<Drrip>(setup);
           },
           .statistics = &statistics_schema_of<DrripStatistics>},
          &schema_of<DrripParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{orders_lines}, {}};
          }};
}

}  // namespace lockstep
