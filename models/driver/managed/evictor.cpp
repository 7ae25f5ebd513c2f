#include "models/driver/managed/evictor.hpp"

namespace lockstep {
namespace {

/// View of a policy during one choice.
class Candidates final : public EvictionView {
 public:
  Candidates(const ManagedPages& pages, std::uint64_t seed, HostStatistics& statistics,
             bool spare_preferred)
      : pages_(pages), seed_(seed), statistics_(statistics), spare_preferred_(spare_preferred) {}

  const Residency& residency() const override { return pages_.residency(); }
  bool evictable(ManagedPage page) const override {
    return pages_.place(page) == PagePlace::gpu &&
           !(spare_preferred_ && pages_.buffer_of(page).preferred == PreferredPlace::gpu);
  }
  std::uint64_t seed() const override { return seed_; }
  TreeDecisions* decisions(TenantId tenant) const override {
    return &statistics_.tree_evictions[tenant.value()];
  }

 private:
  const ManagedPages& pages_;
  const std::uint64_t seed_;
  HostStatistics& statistics_;
  const bool spare_preferred_;
};

}  // namespace

bool Evictor::evict(std::uint64_t wanted, const HostCycle& cycle) {
  std::vector<PageRange> victims;
  for (const bool spare_preferred : {true, false}) {
    const Candidates candidates(pages_, seed_, cycle.statistics, spare_preferred);
    policy_.choose(candidates, wanted, number_, victims);
    if (!victims.empty()) break;
  }
  if (victims.empty()) return false;
  ++number_;
  for (const PageRange& victim : victims) {
    const PageRange range = pages_.whole_granules(victim);
    // The victim before may have been in the same granule.
    if (pages_.place(range.first) != PagePlace::gpu) continue;
    cycle.statistics.pages_evicted[pages_.owner(range.first).tenant.value()] += range.count;
    pages_.set(range, ManagedPages::evicted);
    departures_.start(range, {}, cycle);
    pages_.spill(range);
  }
  return true;
}

}  // namespace lockstep
