/// GPU-MMU with 2 MiB pages: every page is a whole, aligned large frame.
/// Source: 004, section 7.2.1.
///
/// Simplified: the rest of an allocation's last large page is mapped with it. So a stray access
/// just behind a buffer is found only beyond that page.
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {
namespace {

class LargePages final : public PageManager {
 public:
  using PageManager::PageManager;
  std::uint64_t granule_pages() const override { return pages_per_large; }
  bool maps_large(bool) const override { return true; }
  std::vector<FrameRun> allocate(const TenantPages& pages, bool) override {
    return allocate_large(pages);
  }
};

}  // namespace

PageManagerRow large_pages() {
  return {"large-pages",
          "every page has 2 MiB (004, 7.2.1)",
          {make_page_manager_as<LargePages>},
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{"maps device memory in large pages"}, {}};
          }};
}

}  // namespace lockstep
