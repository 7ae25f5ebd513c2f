#include "models/memory/cache_policy/medic/medic.hpp"

#include <algorithm>
#include <optional>

#include "core/statistics/statistics.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/cache_policy/evicted_filter.hpp"

namespace lockstep {
namespace {

struct MedicStatistics {
  struct OfTenant {
    std::array<Counter, 4> lookups, hits, bypasses;
    Counter reused;
  };
  PerTenant<OfTenant> tenant;
  std::array<Counter, 3> fills, evictions;
  std::array<Counter, WalkLevels::count> walk_bypasses;

  static auto schema() {
    using S = MedicStatistics;
    using T = OfTenant;
    constexpr const char* types[] = {"mostly_miss", "balanced", "mostly_hit", "all_hit"};
    constexpr const char* classes[] = {"mostly_miss", "balanced", "mostly_hit"};
    return statistics<S>()
        .per_tenant("lookups", &S::tenant, &T::lookups, types, "requests",
                    "requests that looked up, by type of their warp")
        .per_tenant("hits", &S::tenant, &T::hits, types, "requests",
                    "lookups that found all sectors in the L2")
        .per_tenant("bypasses", &S::tenant, &T::bypasses, types, "requests",
                    "requests that were told to bypass the L2")
        .per_tenant("reused", &S::tenant, &T::reused, "requests",
                    "requests that looked up although their warp mostly misses, because their line "
                    "was evicted recently")
        .counters("fills", &S::fills, classes, "lines",
                  "lines that came in, by class, with `bypass` or `insertion`")
        .counters("evictions", &S::evictions, classes, "lines",
                  "lines that left, by class, with `insertion` or `reuse`")
        .counters("walk_bypasses", &S::walk_bypasses, WalkLevels::names, "requests",
                  "requests of page walks that were told to go past the L2, with `walks`");
  }
};

/// The L2's part.
class Medic final : public CachePolicy {
 public:
  explicit Medic(const PartitionPolicySetup& setup)
      : Medic(setup, setup.choice.parameters<MedicParameters>()) {}

  CacheAdmission on_arrival(const MemoryRequest& request, std::uint64_t line, Time now) override {
    if (walks_ && request.walk_level != 0 && walks_->goes_past(request, now)) {
      ++statistics_.walk_bypasses[WalkLevels::level_of(request)];
      return CacheAdmission::to_dram;
    }
    if ((request.marks & mark_bypass) == 0) return CacheAdmission::to_bank;
    MedicStatistics::OfTenant& counts = statistics_.tenant[request.tenant];
    if (evicted_ && evicted_->has(line)) {
      ++counts.reused;
      return CacheAdmission::to_bank;
    }
    ++counts.bypasses[type_of(request)];
    lookups_ += bypasses_miss_;
    misses_ += bypasses_miss_;
    return CacheAdmission::to_dram;
  }

  void on_lookup(const MemoryRequest& request, CacheLookup found, Time now) override {
    if (walks_ && WalkLevels::compares(request))
      walks_->on_lookup(request, found.hits == request.sectors, now);
    const bool hit = is_medic_hit(arriving_, request.sectors, found.hits, found.arriving);
    MedicStatistics::OfTenant& counts = statistics_.tenant[request.tenant];
    ++counts.lookups[type_of(request)];
    if (hit) ++counts.hits[type_of(request)];
    ++lookups_;
    misses_ += !hit;
  }

  /// Atomics look up as well, and leave no line behind. Lines that the filter let in stay.
  CacheInsertion on_insertion(const MemoryRequest& request, std::uint64_t line, Time) override {
    const bool bypasses = (request.marks & mark_bypass) != 0;
    if (bypasses && !(evicted_ && evicted_->has(line))) return {.allocate = false};
    const std::size_t of = std::min<std::size_t>(type_of(request), most_class);
    ++statistics_.fills[of];
    constexpr CachePosition places[] = {CachePosition::next_to_go, CachePosition::middle,
                                        CachePosition::most_recent};
    const bool by_type = stack_ && (request.marks & mark_plain) == 0;
    return {.position = by_type ? places[of] : CachePosition::usual,
            .line_class = static_cast<std::uint8_t>(of)};
  }

  /// Returns the ways whose lines may leave. With `order: classes` the lines of the lowest class
  /// leave first.
  /// Source: memory-interference.md, section 3.3.3.
  std::uint64_t candidates(std::span<const CacheWay> ways) override {
    std::uint8_t lowest = most_class;
    for (const CacheWay& way : ways) lowest = std::min(lowest, way.line_class);
    std::uint64_t found = 0;
    for (std::size_t way = 0; way < ways.size(); ++way)
      found |= std::uint64_t{ways[way].line_class == lowest} << way;
    return found;
  }

  void on_eviction(std::uint64_t line, std::uint8_t line_class) override {
    ++statistics_.evictions[line_class];
    if (evicted_) evicted_->add(line);
  }

  bool has_report() const override { return reports_ && lookups_ != 0; }
  void report(std::vector<std::uint64_t>& increments) override {
    increments = {lookups_, misses_};
    lookups_ = misses_ = 0;
  }
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override {
    archive(lookups_, misses_, statistics_);
    if (evicted_) archive(*evicted_);
    if (walks_) archive(*walks_);
  }

 private:
  static constexpr std::uint8_t most_class = 2;  ///< the types mostly hit and all hit count as one

  Medic(const PartitionPolicySetup& setup, const MedicParameters& p)
      : CachePolicy(observes | (p.bypass ? admits | inserts : 0u) | (p.walks ? admits : 0u) |
                    (p.reuse ? mourns : 0u) | (p.insertion ? inserts | mourns : 0u) |
                    (p.insertion && p.order == MedicInsertion::classes ? restricts : 0u)),
        stack_(p.insertion && p.order == MedicInsertion::stack),
        reports_(p.threshold_step != 0),
        bypasses_miss_(p.bypasses_miss),
        arriving_(p.arriving) {
    set_tenants(statistics_, setup.tenants);
    const L2Parameters& l2 = setup.parameters.l2;
    if (p.walks) walks_.emplace(p.walk_levels, Clock(setup.parameters.clock).period());
    if (p.reuse) evicted_.emplace(std::uint64_t{l2.total_banks()} * l2.sets_per_bank() * l2.ways);
  }

  /// Returns the type of the request's warp. Walks and other requests without a warp count as
  /// balanced.
  static std::size_t type_of(const MemoryRequest& request) {
    return (request.marks & mark_has_class) != 0 ? request.marks & mark_class
                                                 : static_cast<std::size_t>(WarpType::balanced);
  }

  const bool stack_, reports_, bypasses_miss_;
  const MedicArriving arriving_;
  std::optional<EvictedFilter> evicted_;
  std::optional<WalkLevels> walks_;
  std::uint64_t lookups_ = 0, misses_ = 0;  ///< counts since the last report
  MedicStatistics statistics_;
};

}  // namespace

PolicyRegistry<CachePolicyFactory>::Row medic_cache_policy() {
  return {"medic",
          "warps that mostly miss bypass, lines of those that hit stay (004, section 4.3)",
          {.make = [](const PartitionPolicySetup& setup) -> std::unique_ptr<CachePolicy> {
             return std::make_unique<Medic>(setup);
           },
           .controller = make_medic_threshold,
           .statistics = &statistics_schema_of<MedicStatistics>,
           .sm_side = {make_warp_types, warp_type_statistics}},
          &schema_of<MedicParameters>(),
          [](const PolicyChoice& choice) {
            const auto& p = choice.parameters<MedicParameters>();
            PolicyTraits traits{{knows_hitting_warps}, {}};
            if (p.insertion && p.order == MedicInsertion::stack)
              traits.needs = {needs_order_of_lines("with order: stack says which lines go next")};
            return traits;
          }};
}

}  // namespace lockstep
