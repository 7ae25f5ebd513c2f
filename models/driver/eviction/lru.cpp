/// Least recently used: pages, blocks of 64 KiB or large pages of 2 MiB.
///
/// A granule is used when a page of it arrives or a walk finds one.
/// Source: virtual-memory-and-exceptions.md, section 10 (lru4k, lru2m).
///
/// Simplified: accesses that hit in a TLB are not seen, as by a driver that reads accessed bits.
#include "models/driver/eviction/granularity.hpp"
#include "models/driver/eviction/recency_list.hpp"
#include "models/driver/eviction/victims.hpp"

namespace lockstep {
namespace {

class Lru final : public Eviction {
 public:
  explicit Lru(const GranularityParameters& parameters) : granules_(parameters.pages()) {}

  void arrived(ManagedPage page) override {
    granules_.add(granules_.of(page));
    order_.touch(granules_.of(page));
  }
  void accessed(ManagedPage page) override {
    if (order_.contains(granules_.of(page))) order_.touch(granules_.of(page));
  }
  void left(ManagedPage page) override {
    if (granules_.remove(granules_.of(page))) order_.remove(granules_.of(page));
  }
  void choose(const EvictionView& view, std::uint64_t wanted_pages, std::uint64_t,
              std::vector<PageRange>& victims) override {
    std::uint64_t found = 0;
    for (std::uint32_t granule = order_.oldest();
         granule != RecencyList::none && found < wanted_pages;
         granule = order_.next_newer(granule)) {
      found += append_evictable(view, granules_.pages(granule), victims);
    }
    sort_victims(view.residency(), victims);
  }
  void serialize(Archive& archive) override { archive(granules_, order_); }

 private:
  Granules granules_;
  RecencyList order_;
};

}  // namespace

EvictionRow lru_eviction() {
  return {"lru", "least recently used", make_eviction_as<Lru, GranularityParameters>,
          &schema_of<GranularityParameters>()};
}

}  // namespace lockstep
