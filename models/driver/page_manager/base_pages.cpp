/// GPU-MMU with 4 KiB pages: any frames that are free, those of all tenants mixed.
/// Source: 004, section 7.2.1 and Figure 7.1a.
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

namespace {

class BasePages final : public PageManager {
 public:
  std::uint64_t granule_pages() const override { return 1; }
  bool large(bool) const override { return false; }
  std::vector<FrameRun> allocate(FrameAllocator& frames, std::uint64_t pages, bool) override {
    return frames.allocate_scattered(pages * page_bytes);
  }
};

}  // namespace

std::unique_ptr<PageManager> make_base_pages(const PolicyChoice&) {
  return std::make_unique<BasePages>();
}

}  // namespace lockstep
