/// GPU-MMU with 2 MiB pages: every page is a whole, aligned large frame.
/// Source: 004, section 7.2.1.
///
/// Simplified: the rest of an allocation's last large page is mapped with it, so that a stray
/// access just behind a buffer is found only beyond that.
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

namespace {

class LargePages final : public PageManager {
 public:
  std::uint64_t granule_pages() const override { return pages_per_large; }
  bool large(bool) const override { return true; }
  std::vector<FrameRun> allocate(FrameAllocator& frames, std::uint64_t pages, bool) override {
    std::vector<FrameRun> runs;
    for (std::uint64_t page = 0; page < pages; page += pages_per_large) {
      const auto base = frames.allocate(large_page_bytes, large_page_bytes);
      if (!base) {
        for (const FrameRun& run : runs) frames.release(run.physical, run.bytes);
        return {};
      }
      runs.push_back({*base, large_page_bytes});
    }
    return runs;
  }
};

}  // namespace

std::unique_ptr<PageManager> make_large_pages(const PolicyChoice&) {
  return std::make_unique<LargePages>();
}

}  // namespace lockstep
