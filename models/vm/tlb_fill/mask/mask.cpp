#include "models/vm/tlb_fill/mask/mask.hpp"

#include <algorithm>
#include <vector>

#include "core/statistics/statistics.hpp"
#include "models/vm/tlb_fill/tlb_fill.hpp"

namespace lockstep {
namespace {

struct MaskFillStatistics {
  PerTenant<Counter> tlb_fills, beside_fills, beside_hits;
  PerTenant<Gauge> tokens, turn;
  static auto schema() {
    using S = MaskFillStatistics;
    return statistics<S>()
        .per_tenant("tlb_fills", &S::tlb_fills, "walks", "walks kept in the second-level TLB")
        .per_tenant("beside_fills", &S::beside_fills, "walks",
                    "walks kept beside the second-level TLB")
        .per_tenant("beside_hits", &S::beside_hits, "lookups",
                    "lookups that hit in the array beside the TLB")
        .per_tenant("tokens", &S::tokens, "warps", "warps that have a token")
        .per_tenant("turn", &S::turn, "requests", "requests of a turn at a DRAM channel");
  }
};

/// The GMMU's part.
class MaskFill final : public TlbFill {
 public:
  explicit MaskFill(const GmmuPolicySetup& setup)
      : MaskFill(setup.choice.parameters<MaskFillParameters>(), setup.tenants) {}

  /// A page that the TLB already has stays there: it has one entry, the last one.
  void fill(const FinishedWalk& walk, Time, Tlb& tlb) override {
    const std::uint16_t tenant = walk.where.tenant.value();
    if (has_token(walk) || has(tlb, walk.where)) {
      beside_.drop(walk.where);
      tlb.insert(walk.where, walk.entry);
      ++statistics_.tlb_fills[tenant];
    } else {
      beside_.insert(walk.where, walk.entry);
      ++statistics_.beside_fills[tenant];
    }
  }
  const PageTableEntry* find(TenantPage where) override {
    const PageTableEntry* entry = use(beside_.base, TlbKey::base(where));
    if (entry == nullptr) entry = use(beside_.large, TlbKey::large(where));
    if (entry != nullptr) ++statistics_.beside_hits[where.tenant.value()];
    return entry;
  }
  void on_lookup(TenantId tenant, bool hit, Time) override {
    MaskReport::OfGmmu& counts = tenants_[tenant.value()].counts;
    ++counts.lookups;
    counts.misses += !hit;
    any_ = true;
  }
  void on_walk(TenantId tenant, bool begins) override {
    OfTenant& of = tenants_[tenant.value()];
    if (!begins) {
      --of.under_way;
      return;
    }
    ++of.counts.walks;
    of.counts.at_once = std::max(of.counts.at_once, ++of.under_way);
    any_ = true;
  }

  std::uint32_t drop(TenantPage where) override { return beside_.drop(where) ? 1 : 0; }
  std::uint32_t drop_tenant(TenantId tenant) override { return beside_.drop_tenant(tenant); }
  std::uint32_t drop_all() override { return beside_.drop_all(); }

  bool has_report() const override { return any_; }
  void report(std::vector<std::uint64_t>& increments) override {
    increments.push_back(MaskReport::gmmu);
    for (OfTenant& of : tenants_) {
      const MaskReport::OfGmmu& c = of.counts;
      increments.insert(increments.end(), {c.lookups, c.misses, c.walks, c.at_once});
      of.counts = {.at_once = of.under_way};
    }
    any_ = false;
  }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time) override {
    if (topic != EpochTopic::tlb_fill) return;
    for (std::size_t tenant = 0; tenant < tenants_.size(); ++tenant) {
      const MaskDecision decision = MaskDecision::of(values, tenant);
      tenants_[tenant].first_without = decision.first_without;
      statistics_.tokens[tenant] = decision.tokens;
      statistics_.turn[tenant] = decision.turn;
    }
  }
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override {
    beside_.serialize(archive);
    for (OfTenant& of : tenants_)
      archive(of.counts.lookups, of.counts.misses, of.counts.walks, of.counts.at_once, of.under_way,
              of.first_without);
    archive(any_, statistics_);
  }

 private:
  struct OfTenant {
    MaskReport::OfGmmu counts;
    std::uint64_t under_way = 0;  ///< walks under way
    std::uint64_t first_without = MaskDecision::all_warps;
  };
  /// The array beside the TLB, fully associative.
  struct Sizes {
    std::uint32_t entries, ways, large_entries, large_ways;
  };

  MaskFill(const MaskFillParameters& p, std::size_t tenants)
      : tokens_(p.tokens), beside_(Sizes{p.entries, 0, p.large_entries, 0}), tenants_(tenants) {
    set_tenants(statistics_, tenants);
  }

  bool has_token(const FinishedWalk& walk) const {
    if (!tokens_) return true;
    const std::uint64_t end = tenants_[walk.where.tenant.value()].first_without;
    return std::any_of(walk.requests.begin(), walk.requests.end(), [&](const TranslateRequest& r) {
      return MaskDecision::order_of(r.warp, r.sm) < end;
    });
  }
  static bool has(const Tlb& tlb, TenantPage where) {
    return tlb.base.find(TlbKey::base(where)) != TlbArray::none ||
           tlb.large.find(TlbKey::large(where)) != TlbArray::none;
  }
  static const PageTableEntry* use(TlbArray& array, TlbKey key) {
    const std::uint32_t index = array.find(key);
    if (index == TlbArray::none) return nullptr;
    array.touch(index);
    return &array[index].value;
  }

  const bool tokens_;
  Tlb beside_;
  std::vector<OfTenant> tenants_;
  bool any_ = false;  ///< true: there is something to report
  MaskFillStatistics statistics_;
};

}  // namespace

PolicyRegistry<TlbFillFactory>::Row mask_tlb_fill() {
  return {"mask",
          "only walks for warps with a token fill the second-level TLB (004, section 6.4.2)",
          {.make = [](const GmmuPolicySetup& setup) -> std::unique_ptr<TlbFill> {
             return std::make_unique<MaskFill>(setup);
           },
           .controller = make_mask_decisions,
           .statistics = &statistics_schema_of<MaskFillStatistics>,
           .sm_side = {.make = make_mask_warps}},
          &schema_of<MaskFillParameters>(),
          [](const PolicyChoice&) {
            // The policy tells its measures to listeners of EpochTopic::tlb_fill.
            return PolicyTraits{{"measures walks"},
                                {{.plug_point = "translation",
                                  .trait = "has a shared TLB",
                                  .why = "fills a second-level TLB",
                                  .other = "has none",
                                  .advice = "choose translation: shared-tlb, or tlb_fill: lru"}}};
          }};
}

}  // namespace lockstep
