/// Sequential-local eviction: the 64 KiB block of the least recently used page leaves as a whole.
///
/// Source: virtual-memory-and-exceptions.md, section 10 (seqlocal64k), the mirror of the prefetcher
/// of 001, section B.3.2.
///
/// Simplified: as lru.
#include <set>

#include "models/driver/eviction/page_recency.hpp"
#include "models/driver/eviction/victims.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {
namespace {

class SequentialLocalEviction final : public PageRecency {
 public:
  void choose(const EvictionView& view, std::uint64_t wanted_pages, std::uint64_t,
              std::vector<PageRange>& victims) override {
    std::set<ManagedPage> seen;  // first pages of blocks
    std::uint64_t found = 0;
    for (std::uint32_t number = order().oldest();
         number != RecencyList::none && found < wanted_pages; number = order().next_newer(number)) {
      const ManagedPage page{number};
      if (!view.evictable(page)) continue;
      const ManagedPage block = page.rounded_down(pages_per_block);
      if (seen.insert(block).second)
        found += append_evictable(view, {block, pages_per_block}, victims);
    }
    sort_victims(view.residency(), victims);
  }
};

}  // namespace

EvictionRow sequential_local_eviction() {
  return {"sequential-local", "the block of 64 KiB of the least recently used page",
          make_eviction_as<SequentialLocalEviction>};
}

}  // namespace lockstep
