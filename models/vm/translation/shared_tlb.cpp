/// A second-level TLB shared by all SMs.
///
/// The entries for large pages are looked up first; when they miss, those for base pages take as
/// long again, unless both are looked up at once (`vm.l2_tlb.together`).  Entries beside the TLB
/// (tlb_fill) are found together with the base entries. Sources: 004, sections 6.2 (SharedTLB) and
/// 7.1.2, 7.5.2 (two arrays, one after the other).
///
/// Simplified: a tenant without large pages also pays for the lookup of the large entries. Cost
/// model: `vm.l2_tlb.latency` per array or for both, `vm.l2_tlb.ports` lookups begin in a cycle.
#include "models/vm/translation/no_second_level.hpp"
#include "models/vm/translation/translation.hpp"

namespace lockstep {

namespace {

class SharedTlb final : public TranslationPath {
 public:
  SharedTlb(const L2TlbParameters& parameters, std::unique_ptr<TlbFill> fill)
      : timing_{true, parameters.ports, parameters.latency, Cycles{0}, parameters.together},
        tlb_(parameters),
        lost_(parameters),
        fill_(std::move(fill)) {}

  TranslationTiming timing() const override { return timing_; }
  TlbFill* fill() override { return fill_.get(); }

  const PageTableEntry* find_large(TenantPage where) override {
    return use(tlb_.large, TlbKey::large(where));
  }
  const PageTableEntry* find_base(TenantPage where) override {
    const PageTableEntry* entry = use(tlb_.base, TlbKey::base(where));
    return entry ? entry : fill_->find(where);
  }
  void looked_up(TenantId tenant, bool hit, Time now) override {
    fill_->on_lookup(tenant, hit, now);
  }
  std::optional<TenantId> walked(const FinishedWalk& walk, Time now) override {
    fill_->fill(walk, now, tlb_);
    const std::optional<TenantId> large = tlb_.large.take_evicted();
    const std::optional<TenantId> base = tlb_.base.take_evicted();
    return base ? base : large;
  }

  void walks(TenantId tenant, bool begins) override { fill_->on_walk(tenant, begins); }

  bool known_dirty(TenantPage where) const override {
    return dirty(tlb_.base, TlbKey::base(where)) || dirty(tlb_.large, TlbKey::large(where));
  }
  void set_dirty(TenantPage where) override {
    set_dirty(tlb_.base, TlbKey::base(where));
    set_dirty(tlb_.large, TlbKey::large(where));
  }

  std::uint32_t drop(const PageSpan& span, TlbLoss why) override {
    for (std::uint32_t i = 0; i < span.count; ++i) lost_.dropped(tlb_, span.at(i), why);
    std::uint32_t dropped = tlb_.large.drop(TlbKey::large(span.first()));
    for (std::uint32_t i = 0; i < span.count; ++i)
      dropped += tlb_.base.drop(TlbKey::base(span.at(i))) + fill_->drop(span.at(i));
    return dropped;
  }
  std::uint32_t flush(TenantId tenant) override {
    lost_.flushed(tlb_, tenant);
    if (!tenant.valid()) return tlb_.drop_all() + fill_->drop_all();
    return tlb_.drop_tenant(tenant) + fill_->drop_tenant(tenant);
  }
  void forget_tenant(TenantId tenant) override {
    tlb_.drop_tenant(tenant);
    fill_->drop_tenant(tenant);
    lost_.forget_tenant(tenant);
  }
  std::optional<TlbLoss> take_loss(TenantPage where) override {
    const std::optional<TlbLoss> loss = lost_.find(where);
    if (loss) lost_.forget(where);
    return loss;
  }

  void serialize(Archive& archive) override {
    tlb_.serialize(archive);
    lost_.serialize(archive);
    fill_->serialize(archive);
  }

 private:
  static const PageTableEntry* use(TlbArray& array, TlbKey key) {
    const std::uint32_t index = array.find(key);
    if (index == TlbArray::none) return nullptr;
    array.touch(index);
    return &array[index].value;
  }
  static bool dirty(const TlbArray& array, TlbKey key) {
    const std::uint32_t index = array.find(key);
    return index != TlbArray::none && array[index].value.is(PageTableEntry::dirty);
  }

  static void set_dirty(TlbArray& array, TlbKey key) {
    const std::uint32_t index = array.find(key);
    if (index != TlbArray::none) array[index].value.bits |= PageTableEntry::dirty;
  }

  const TranslationTiming timing_;
  Tlb tlb_;
  LostEntries lost_;
  std::unique_ptr<TlbFill> fill_;
};

}  // namespace

PolicyRegistry<TranslationFactory>::Row shared_tlb_translation() {
  return {"shared-tlb",
          "a second-level TLB of all SMs, if the GPU has one (004, section 6.2)",
          {[](const GmmuPolicySetup& setup, std::unique_ptr<TlbFill> fill) {
            const L2TlbParameters& parameters = setup.parameters.l2_tlb;
            if (!parameters.enabled) return make_no_second_level();
            return std::unique_ptr<TranslationPath>(
                std::make_unique<SharedTlb>(parameters, std::move(fill)));
          }},
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{"has a shared TLB"}, {}};
          }};
}

}  // namespace lockstep
