/// Device memory in 2 MiB pages where it fills them, managed memory in 4 KiB pages, as drivers of
/// real GPUs map what cudaMalloc and cudaMallocManaged give.
/// Source: gpu-parameters.md, section 11 (reach of the TLBs); our choice of a default, since with
/// 4 KiB pages alone a V100 spends its bandwidth on walks.

#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

namespace {

class MixedPages final : public PageManager {
 public:
  std::uint64_t granule_pages() const override { return 1; }
  bool large(bool paged) const override { return !paged; }
  std::vector<FrameRun> allocate(FrameAllocator& frames, std::uint64_t pages, bool paged) override {
    return paged ? frames.allocate_scattered(pages * page_bytes)
                 : allocate_large_first(frames, pages);
  }
};

}  // namespace

std::vector<FrameRun> allocate_large_first(FrameAllocator& frames, std::uint64_t pages) {
  std::vector<FrameRun> runs;
  while (pages >= pages_per_large) {
    const auto base = frames.allocate(large_page_bytes, large_page_bytes);
    if (!base) break;
    runs.push_back({*base, large_page_bytes});
    pages -= pages_per_large;
  }
  if (pages == 0) return runs;
  const std::vector<FrameRun> rest = frames.allocate_scattered(pages * page_bytes);
  if (rest.empty()) {
    for (const FrameRun& run : runs) frames.release(run.physical, run.bytes);
    return {};
  }
  runs.insert(runs.end(), rest.begin(), rest.end());
  return runs;
}

std::unique_ptr<PageManager> make_mixed_pages(const PolicyChoice&) {
  return std::make_unique<MixedPages>();
}

}  // namespace lockstep
