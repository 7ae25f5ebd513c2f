/// Least frequently used: large pages of 2 MiB, blocks of 64 KiB or pages.
///
/// A granule is used when a page of it arrives or a walk finds one, as for lru; among equally used
/// granules the least recently used one leaves.  A granule's count is dropped when its last page
/// leaves.  A new granule begins with the count of the last evicted one (dynamic aging): with
/// counts from 0, granules that were once used often would stay for good, and newcomers would only
/// push each other out. The granule of the newest page leaves last: its fault may not have been
/// replayed yet.
/// Source: virtual-memory-and-exceptions.md, section 10 (lfu2m), which gives the name alone; aging:
/// Arlitt et al., "Evaluating content management techniques for web proxy caches", 2000 (LFU-DA).
///
/// Simplified: as lru. A prefetched page counts as used when it arrives. A copy that becomes
/// writable (read_mostly) counts as a page that leaves and arrives.
#include <algorithm>
#include <set>
#include <tuple>

#include "models/driver/eviction/granularity.hpp"
#include "models/driver/eviction/victims.hpp"

namespace lockstep {
namespace {

using LfuParameters = GranularityOr<EvictionGranularity::large>;

class Lfu final : public Eviction {
 public:
  explicit Lfu(const LfuParameters& parameters) : granules_(parameters.pages()) {}

  void arrived(ManagedPage page) override {
    newest_ = granules_.of(page);
    if (granules_.add(newest_)) begin(newest_);
    use(newest_);
  }
  void accessed(ManagedPage page) override {
    if (contains(granules_.of(page))) use(granules_.of(page));
  }
  void left(ManagedPage page) override {
    const std::uint32_t granule = granules_.of(page);
    if (!granules_.remove(granule)) return;
    order_.erase(rank(granule));
    uses_[granule] = {};
  }
  void choose(const EvictionView& view, std::uint64_t wanted_pages, std::uint64_t,
              std::vector<PageRange>& victims) override {
    std::uint64_t found = 0;
    const auto take = [&](std::uint32_t granule) {
      const std::uint64_t pages = append_evictable(view, granules_.pages(granule), victims);
      if (pages > 0) age_ = std::max(age_, uses_[granule].count);
      found += pages;
    };
    for (auto next = order_.begin(); next != order_.end() && found < wanted_pages; ++next) {
      const std::uint32_t granule = std::get<2>(*next);
      if (granule != newest_) take(granule);
    }
    if (found < wanted_pages && contains(newest_)) take(newest_);
    sort_victims(view.residency(), victims);
  }
  void serialize(Archive& archive) override {
    archive(granules_, uses_, newest_, number_, age_);
    order_.clear();
    for (std::uint32_t granule = 0; granule < uses_.size(); ++granule)
      if (contains(granule)) order_.insert(rank(granule));
  }

 private:
  static constexpr std::uint64_t never = 0;
  struct Uses {
    std::uint64_t count = 0;
    std::uint64_t last = never;  ///< number of the last use, counted over all granules
    template <class Archive>
    void serialize(Archive& archive) {
      archive(count, last);
    }
  };
  using Rank = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;

  bool contains(std::uint32_t granule) const {
    return granule < uses_.size() && uses_[granule].last != never;
  }
  Rank rank(std::uint32_t granule) const {
    return {uses_[granule].count, uses_[granule].last, granule};
  }
  void begin(std::uint32_t granule) {
    if (granule >= uses_.size()) uses_.resize(granule + 1u);
    uses_[granule].count = age_;
  }
  void use(std::uint32_t granule) {
    order_.erase(rank(granule));
    ++uses_[granule].count;
    uses_[granule].last = ++number_;
    order_.insert(rank(granule));
  }

  Granules granules_;
  std::vector<Uses> uses_;    ///< uses of each granule; never: outside GPU memory
  std::set<Rank> order_;      ///< granules in GPU memory, the next victim first
  std::uint32_t newest_ = 0;  ///< granule to which the newest page belongs
  std::uint64_t number_ = 0;  ///< number of the last use
  std::uint64_t age_ = 0;     ///< count at which newcomers begin
};

}  // namespace

EvictionRow lfu_eviction() {
  return {"lfu", "least frequently used; a new page begins at the count of the last evicted page",
          make_eviction_as<Lfu, LfuParameters>, &schema_of<LfuParameters>()};
}

}  // namespace lockstep
