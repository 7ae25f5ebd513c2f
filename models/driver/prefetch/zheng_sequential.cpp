/// Sequential prefetching of an earlier design: the allocation is streamed from its lowest address
/// to its highest, independent of the faults' places.
///
/// The stream moves on with every fault: the faulting page comes with the next `pages` missing
/// pages of the allocation, in the order of addresses.  The stream runs ahead of faults at higher
/// addresses and so avoids them; evicted pages lie behind it and come again first.
/// Source: 001, section B.3.2 (what sequential-local replaces); virtual-memory-and-exceptions.md,
/// section 5.3 (zheng_seq).
///
/// Simplified: the stream goes on only with faults, not whenever the link is free.
#include "core/parameters/parameters.hpp"
#include "models/driver/prefetch/missing_pages.hpp"

namespace lockstep {
namespace {

struct ZhengSequentialParameters {
  std::uint64_t pages;

  static auto schema() {
    using P = ZhengSequentialParameters;
    return parameters<P>().field("pages", &P::pages, 128, range(1, 1 << 20),
                                 "pages by which the stream goes on with each fault", "pages");
  }
};

class ZhengSequential final : public Prefetcher {
 public:
  explicit ZhengSequential(const ZhengSequentialParameters& parameters) : parameters_(parameters) {}

  void choose(const FaultGroup& group, std::vector<PageRange>& moves) const override {
    const PageRange stream{group.allocation.first,
                           length(group, parameters_.pages * group.faults.size())};
    append_missing(group, stream, moves);
    for (const ManagedPage fault : group.faults)
      if (fault >= stream.end()) append_missing(group, {fault, 1}, moves);
  }

 private:
  /// Returns the length, from the begin of the allocation, within which `wanted` pages come.
  static std::uint64_t length(const FaultGroup& group, std::uint64_t wanted) {
    std::uint64_t pages = 0;
    for (; pages < group.allocation.pages && wanted > 0; ++pages)
      wanted -= group.residency.place(group.allocation.first + pages) == PagePlace::host;
    return pages;
  }

  const ZhengSequentialParameters parameters_;
};

}  // namespace

PrefetcherRow zheng_sequential_prefetcher() {
  return {"zheng-seq", "the allocation from its lowest address on (001, section B.3.2)",
          make_prefetcher_as<ZhengSequential, ZhengSequentialParameters>,
          &schema_of<ZhengSequentialParameters>()};
}

}  // namespace lockstep
