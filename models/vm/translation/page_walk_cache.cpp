/// Page table entries near the walkers, and no second-level TLB.
///
/// Before each of its four reads a walk looks the entry up here.  Entries of all levels share the
/// cache; each is known by its level and the pages beneath it.
/// Source: 004, section 6.2 (PWCache).
///
/// Simplified: with a fixed walk latency nothing is read, so that the cache stands idle.
/// Cost model: `vm.walk_cache.latency` per lookup, hit or miss.
#include "models/vm/translation/translation.hpp"

namespace lockstep {

namespace {

class PageWalkCache final : public TranslationPath {
 public:
  explicit PageWalkCache(const WalkCacheParameters& parameters)
      : latency_(parameters.latency), entries_(parameters.entries, parameters.ways) {}

  TranslationTiming timing() const override { return {true, 0, Cycles{0}, latency_}; }

  const PageTableEntry* find_level(std::uint16_t tenant, std::uint64_t page,
                                   unsigned level) override {
    const std::uint32_t index = entries_.find(key(tenant, page, level));
    if (index == TlbArray::none) return nullptr;
    entries_.touch(index);
    return &entries_[index].value;
  }
  void keep_level(std::uint16_t tenant, std::uint64_t page, unsigned level,
                  PageTableEntry entry) override {
    entries_.insert(key(tenant, page, level), entry);
  }
  bool known_dirty(std::uint16_t tenant, std::uint64_t page) const override {
    const std::uint32_t index = entries_.find(key(tenant, page, walk_levels));
    return index != TlbArray::none && entries_[index].value.is(PageTableEntry::dirty);
  }

  std::uint32_t drop(std::uint16_t tenant, std::uint64_t page, std::uint32_t count,
                     TlbLoss) override {
    std::uint32_t dropped = entries_.drop(key(tenant, page, walk_levels - 1));
    for (std::uint64_t p = page; p < page + count; ++p)
      dropped += entries_.drop(key(tenant, p, walk_levels));
    return dropped;
  }
  std::uint32_t flush(std::uint16_t tenant) override {
    return tenant == all_tenants ? entries_.drop_all() : entries_.drop_tenant(tenant);
  }
  void forget_tenant(std::uint16_t tenant) override { entries_.drop_tenant(tenant); }

  void serialize(Archive& archive) override { entries_.serialize(archive); }

 private:
  /// Page numbers have 36 bits.  The level stands below them, so that the entries of one level
  /// spread over the sets.
  static std::uint64_t key(std::uint16_t tenant, std::uint64_t page, unsigned level) {
    return TlbArray::key(tenant, page >> (9 * (walk_levels - level)) << 2 | (level - 1));
  }

  const Cycles latency_;
  TlbArray entries_;
};

}  // namespace

std::unique_ptr<TranslationPath> make_page_walk_cache(const PolicyChoice&, const VmParameters& vm,
                                                      std::unique_ptr<TlbFill>) {
  return std::make_unique<PageWalkCache>(vm.walk_cache);
}

}  // namespace lockstep
