/// GPU-MMU with 4 KiB pages: any frames that are free, those of all tenants mixed.
/// Source: 004, section 7.2.1 and Figure 7.1a.
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {
namespace {

class BasePages final : public PageManager {
 public:
  using PageManager::PageManager;
  std::vector<FrameRun> allocate(const TenantPages& pages, bool) override {
    return allocator().allocate_scattered(pages.count * page_bytes);
  }
};

}  // namespace

PageManagerRow base_pages() {
  return {"base-pages",
          "4 KiB pages, frames in the order of all tenants' requests (004, 7.2.1)",
          {make_page_manager_as<BasePages>}};
}

}  // namespace lockstep
