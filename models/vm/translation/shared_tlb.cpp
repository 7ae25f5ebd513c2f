/// A second-level TLB shared by all SMs.
///
/// The entries for large pages are looked up first; when they miss, those for base pages take as
/// long again.  What is looked up beside the TLB (tlb_fill) is found with the base entries.
/// Sources: 004, sections 6.2 (SharedTLB) and 7.1.2, 7.5.2 (two arrays, one after the other).
///
/// Simplified: a tenant without large pages pays for the lookup of the large entries, too.
/// Cost model: `vm.l2_tlb.latency` per array, `vm.l2_tlb.ports` lookups begin in a cycle.
#include "models/vm/translation/translation.hpp"

namespace lockstep {

namespace {

class SharedTlb final : public TranslationPath {
 public:
  SharedTlb(const L2TlbParameters& parameters, std::unique_ptr<TlbFill> fill)
      : timing_{true, parameters.ports, parameters.latency, Cycles{0}},
        tlb_(parameters),
        lost_(parameters),
        fill_(std::move(fill)) {}

  TranslationTiming timing() const override { return timing_; }

  const PageTableEntry* find_large(std::uint16_t tenant, std::uint64_t page) override {
    return use(tlb_.large, Tlb::large_key(tenant, page));
  }
  const PageTableEntry* find_base(std::uint16_t tenant, std::uint64_t page) override {
    const PageTableEntry* entry = use(tlb_.base, Tlb::base_key(tenant, page));
    return entry ? entry : fill_->find(tenant, page);
  }
  void looked_up(std::uint16_t tenant, bool hit, Time now) override {
    fill_->on_lookup(tenant, hit, now);
  }
  void walked(const FinishedWalk& walk, Time now) override { fill_->fill(walk, now, tlb_); }

  bool known_dirty(std::uint16_t tenant, std::uint64_t page) const override {
    return dirty(tlb_.base, Tlb::base_key(tenant, page)) ||
           dirty(tlb_.large, Tlb::large_key(tenant, page));
  }

  void set_dirty(std::uint16_t tenant, std::uint64_t page) override {
    set_dirty(tlb_.base, Tlb::base_key(tenant, page));
    set_dirty(tlb_.large, Tlb::large_key(tenant, page));
  }

  std::uint32_t drop(std::uint16_t tenant, std::uint64_t page, std::uint32_t count,
                     TlbLoss why) override {
    for (std::uint64_t p = page; p < page + count; ++p) lost_.dropped(tlb_, tenant, p, why);
    std::uint32_t dropped = tlb_.large.drop(Tlb::large_key(tenant, page));
    for (std::uint64_t p = page; p < page + count; ++p)
      dropped += tlb_.base.drop(Tlb::base_key(tenant, p)) + fill_->drop(tenant, p);
    return dropped;
  }
  std::uint32_t flush(std::uint16_t tenant) override {
    lost_.flushed(tlb_, tenant);
    if (tenant == all_tenants) return tlb_.drop_all() + fill_->drop_all();
    return tlb_.drop_tenant(tenant) + fill_->drop_tenant(tenant);
  }
  void forget_tenant(std::uint16_t tenant) override {
    tlb_.drop_tenant(tenant);
    fill_->drop_tenant(tenant);
    lost_.forget_tenant(tenant);
  }
  std::optional<TlbLoss> take_loss(std::uint16_t tenant, std::uint64_t page) override {
    const std::optional<TlbLoss> loss = lost_.find(tenant, page);
    if (loss) lost_.forget(tenant, page);
    return loss;
  }

  void serialize(Archive& archive) override {
    tlb_.serialize(archive);
    lost_.serialize(archive);
    fill_->serialize(archive);
  }

 private:
  static const PageTableEntry* use(TlbArray& array, std::uint64_t key) {
    const std::uint32_t index = array.find(key);
    if (index == TlbArray::none) return nullptr;
    array.touch(index);
    return &array[index].value;
  }
  static bool dirty(const TlbArray& array, std::uint64_t key) {
    const std::uint32_t index = array.find(key);
    return index != TlbArray::none && array[index].value.is(PageTableEntry::dirty);
  }

  static void set_dirty(TlbArray& array, std::uint64_t key) {
    const std::uint32_t index = array.find(key);
    if (index != TlbArray::none) array[index].value.bits |= PageTableEntry::dirty;
  }

  const TranslationTiming timing_;
  Tlb tlb_;
  LostEntries lost_;
  std::unique_ptr<TlbFill> fill_;
};

}  // namespace

std::unique_ptr<TranslationPath> make_shared_tlb(const PolicyChoice&, const VmParameters& vm,
                                                 std::unique_ptr<TlbFill> fill) {
  if (!vm.l2_tlb.enabled) return make_no_second_level();
  return std::make_unique<SharedTlb>(vm.l2_tlb, std::move(fill));
}

}  // namespace lockstep
