/// Types of the warp slots of an SM.
///
/// A slot is profiled again in each period: its first lookups decide its type for the rest of the
/// period.  While a slot is profiled its requests do not bypass the L2, and carry its earlier type,
/// or the one that `while_profiled` chooses.  The counters belong to the slot and outlive blocks.
/// Source: 004, sections 4.2.1 and 4.3.1; memory-interference.md, section 3.3.1 (AMB-05, AMB-67).
///
/// Simplified: a warp that has not been judged yet is balanced.
#include <vector>

#include "core/statistics/statistics.hpp"
#include "models/memory/cache_policy/hit_counts.hpp"
#include "models/memory/cache_policy/medic/hit_spread.hpp"
#include "models/memory/cache_policy/medic/medic.hpp"
#include "models/memory/cache_policy/period.hpp"

namespace lockstep {
namespace {

struct WarpTypeStatistics {
  PerTenant<std::array<Counter, 5>> warps;
  PerTenant<LinearHistogram<11, 10>> hit_ratio;
  PerTenant<Counter> changed_types;
  PerTenant<Counter> all_hit_loads, hit_spread;
  PerTenant<Gauge> longest_spread;
  Gauge threshold;

  static auto schema() {
    using S = WarpTypeStatistics;
    return statistics<S>()
        .per_tenant("warps", &S::warps,
                    {"all_miss", "mostly_miss", "balanced", "mostly_hit", "all_hit"}, "warps",
                    "warps judged to be of a type, once in each period")
        .per_tenant("hit_ratio", &S::hit_ratio, "warps",
                    "judged warps, by the percentage of their requests that hit")
        .per_tenant("changed_types", &S::changed_types, "warps",
                    "warps judged to be of another type than before")
        .per_tenant(
            "all_hit_loads", &S::all_hit_loads, "instructions",
            "loads of several requests, all of which hit; of several loads under way one counts")
        .per_tenant("hit_spread", &S::hit_spread, "cycles",
                    "cycles of the L2 between the first and the last answer of such loads, summed")
        .per_tenant("longest_spread", &S::longest_spread, "cycles",
                    "longest time between the first and the last answer of such loads")
        .gauge("threshold", &S::threshold, "%", "share of hits up to which a warp mostly misses");
  }
};

class WarpTypes final : public SmSide {
 public:
  explicit WarpTypes(const SmSideSetup& setup)
      : parameters_(setup.choice.parameters<MedicParameters>()),
        cycle_(setup.cycle),
        period_(setup.cycle * parameters_.resample.count()),
        threshold_(parameters_.mostly_miss),
        warps_(setup.warps),
        spreads_(setup.warps) {
    set_tenants(statistics_, setup.tenants);
    statistics_.threshold = threshold_;
  }

  void mark(MemoryRequest& request, Time now) override {
    begin_period(now);
    Warp& warp = warps_[request.warp];
    warp.tenant = request.tenant;
    const MedicProfiling profiled = warp.judged ? MedicProfiling::kept : parameters_.while_profiled;
    const WarpType inserted = profiled == MedicProfiling::kept ? warp.type : WarpType::balanced;
    unsigned marks = static_cast<unsigned>(inserted) | mark_has_class;
    if (profiled == MedicProfiling::plain) marks |= mark_plain;
    if (parameters_.bypass && warp.judged && warp.type == WarpType::mostly_miss)
      marks |= mark_bypass;
    if (warp.type >= WarpType::mostly_hit) marks |= mark_mostly_hit;
    request.marks = static_cast<std::uint8_t>(request.marks | marks);
    if (is_measured(request.operation)) spreads_[request.warp].sent(request.pc & pc_mask, now);
  }

  void on_answer(const MemoryResponse& answer, std::uint32_t pc, Time now) override {
    begin_period(now);
    const bool past = (answer.flags & flag_past_l2) != 0;
    if (is_measured(answer.operation)) {
      const bool there = answer.l2_hits == answer.sectors;
      measure(answer, pc & pc_mask, there && !past, now);
    }
    if (past ||
        (parameters_.judged_by == MedicJudged::loads && answer.operation != MemoryOperation::load))
      return;
    Warp& warp = warps_[answer.warp];
    warp.counts.add(is_medic_hit(parameters_.arriving, answer.sectors, answer.l2_hits & 0xf,
                                 answer.l2_hits >> 4));
    if (!warp.judged && ++warp.profiled == parameters_.profile) judge(warp, answer.tenant);
  }

  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time) override {
    if (topic != EpochTopic::cache_policy) return;
    threshold_ = static_cast<std::uint32_t>(values[0]);
    statistics_.threshold = threshold_;
  }
  void on_grid(TenantId tenant) override {
    if (!parameters_.grids) return;
    for (Warp& warp : warps_)
      if (warp.tenant == tenant.value()) warp.profile_anew(WarpType::balanced);
  }
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override {
    archive(period_, threshold_, warps_, spreads_, statistics_);
  }

 private:
  struct Warp {
    HitCounts counts;
    std::uint16_t profiled = 0;
    std::uint16_t tenant = 0;  ///< tenant that asked last
    WarpType type = WarpType::balanced;
    bool judged = false;  ///< the warp has been judged in this period
    void profile_anew(WarpType meanwhile) {
      counts = {};
      profiled = 0;
      type = meanwhile;
      judged = false;
    }
    template <class A>
    void serialize(A& archive) {
      archive(counts, profiled, tenant, type, judged);
    }
  };

  static constexpr std::uint32_t pc_mask = (1u << pc_bits) - 1;
  static bool is_measured(MemoryOperation operation) { return operation == MemoryOperation::load; }
  void measure(const MemoryResponse& answer, std::uint32_t pc, bool hit, Time now) {
    const std::optional<Time> spread = spreads_[answer.warp].answered(pc, hit, now);
    if (!spread) return;
    const auto cycles = static_cast<std::uint64_t>(*spread / cycle_);
    ++statistics_.all_hit_loads[answer.tenant];
    statistics_.hit_spread[answer.tenant] += cycles;
    Gauge& longest = statistics_.longest_spread[answer.tenant];
    if (cycles > longest.value()) longest = cycles;
  }
  void begin_period(Time now) {
    if (!period_.begun(now)) return;
    for (Warp& warp : warps_) warp.profile_anew(warp.type);
  }

  void judge(Warp& warp, std::uint16_t tenant) {
    const HitCounts& counts = warp.counts;
    WarpType type = WarpType::balanced;
    if (counts.hits() == counts.lookups()) {
      type = WarpType::all_hit;
    } else if (counts.at_least(parameters_.mostly_hit)) {
      type = WarpType::mostly_hit;
    } else if (counts.at_most(threshold_)) {
      type = WarpType::mostly_miss;
    }
    const bool all_miss = type == WarpType::mostly_miss && counts.hits() == 0;
    ++statistics_.warps[tenant][all_miss ? 0 : 1 + static_cast<std::size_t>(type)];
    statistics_.hit_ratio[tenant].add(counts.hits() * 100 / counts.lookups());
    if (type != warp.type) ++statistics_.changed_types[tenant];
    warp.type = type;
    warp.judged = true;
  }

  const MedicParameters parameters_;
  const Time cycle_;  ///< cycle of the L2
  Period period_;
  std::uint32_t threshold_;  ///< threshold in percent
  std::vector<Warp> warps_;
  std::vector<HitSpread> spreads_;
  WarpTypeStatistics statistics_;
};

}  // namespace

std::unique_ptr<SmSide> make_warp_types(const SmSideSetup& setup) {
  return std::make_unique<WarpTypes>(setup);
}

const StatisticsSchema& warp_type_statistics() {
  return statistics_schema_of<WarpTypeStatistics>();
}

}  // namespace lockstep
