/// Page table entries near the walkers, and no second-level TLB.
///
/// Before each of its four reads a walk looks the entry up here.  Entries of all levels share the
/// cache; the key of an entry is its level and the pages beneath it.
/// Source: 004, section 6.2 (PWCache).
///
/// Simplified: with a fixed walk latency walks read no memory, so that the cache is not used.
/// Cost model: `vm.walk_cache.latency` per lookup, hit or miss.
#include "models/vm/translation/translation.hpp"

namespace lockstep {

namespace {

class PageWalkCache final : public TranslationPath {
 public:
  explicit PageWalkCache(const WalkCacheParameters& parameters)
      : latency_(parameters.latency), entries_(parameters.entries, parameters.ways) {}

  TranslationTiming timing() const override { return {true, 0, Cycles{0}, latency_}; }

  const PageTableEntry* find_level(TenantPage where, unsigned level) override {
    const std::uint32_t index = entries_.find(key(where, level));
    if (index == TlbArray::none) return nullptr;
    entries_.touch(index);
    return &entries_[index].value;
  }
  void keep_level(TenantPage where, unsigned level, PageTableEntry entry) override {
    entries_.insert(key(where, level), entry);
  }
  void coalesced(TenantPage where) override { entries_.drop(key(where, walk_levels - 1)); }
  bool known_dirty(TenantPage where) const override {
    const std::uint32_t index = entries_.find(key(where, walk_levels));
    return index != TlbArray::none && entries_[index].value.is(PageTableEntry::dirty);
  }

  std::uint32_t drop(const PageSpan& span, TlbLoss) override {
    TenantPage where{TenantId{span.tenant}, VirtualPage{span.page}};
    std::uint32_t dropped = entries_.drop(key(where, walk_levels - 1));
    for (std::uint32_t i = 0; i < span.count; ++i, ++where.page)
      dropped += entries_.drop(key(where, walk_levels));
    return dropped;
  }
  std::uint32_t flush(TenantId tenant) override {
    return tenant.valid() ? entries_.drop_tenant(tenant) : entries_.drop_all();
  }
  void forget_tenant(TenantId tenant) override { entries_.drop_tenant(tenant); }

  void serialize(Archive& archive) override { entries_.serialize(archive); }

 private:
  /// Returns a key. Page numbers have 36 bits, with the level below them, so that the entries of
  /// one level spread over the sets.
  static TlbKey key(TenantPage where, unsigned level) {
    const std::uint64_t number = where.page.value() >> (9 * (walk_levels - level));
    return {where.tenant, number << 2 | (level - 1)};
  }

  const Cycles latency_;
  TlbArray entries_;
};

}  // namespace

PolicyRegistry<TranslationFactory>::Row page_walk_cache_translation() {
  return {"page-walk-cache",
          "no second-level TLB; walks look page table entries up (004, 6.2)",
          {[](const GmmuPolicySetup& setup, std::unique_ptr<TlbFill>) {
            return std::unique_ptr<TranslationPath>(
                std::make_unique<PageWalkCache>(setup.parameters.walk_cache));
          }},
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{"keeps entries of page tables"}, {}};
          }};
}

}  // namespace lockstep
