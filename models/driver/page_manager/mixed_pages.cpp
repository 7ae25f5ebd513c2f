/// Device memory in 2 MiB pages where it fills them, and managed memory in 4 KiB pages, as drivers
/// of real GPUs map memory of cudaMalloc and cudaMallocManaged.  With `vm.device_pages: large` or
/// `shared` the driver rounds device buffers up to such pages, as long as large frames are left.
/// Source: gpu-parameters.md, section 11 (reach of the TLBs); our choice of a default, since with
/// 4 KiB pages alone a V100 spends its bandwidth on walks.
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {
namespace {

class MixedPages final : public PageManager {
 public:
  using PageManager::PageManager;
  bool maps_large(bool paged) const override { return !paged; }
  std::vector<FrameRun> allocate(const TenantPages& pages, bool paged) override {
    return paged ? allocator().allocate_scattered(pages.count * page_bytes, pages.tenant)
                 : allocate_large_first(pages);
  }
};

}  // namespace

PageManagerRow mixed_pages() {
  return {"mixed-pages",
          "device memory in 2 MiB pages where it fills them, managed memory in 4 KiB",
          {make_page_manager_as<MixedPages>},
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{"maps device memory in large pages"}, {}};
          }};
}

}  // namespace lockstep
