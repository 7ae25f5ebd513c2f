/// Mosaic: base pages are allocated so that they can become large pages where they lie.
///
/// CoCoA (large_frames.hpp) chooses frames; when all 512 pages of 2 MiB of addresses have come into
/// one large frame, in their order, they are coalesced: the level-3 entry becomes large, no data
/// moves, and no TLB is flushed.  Data come page by page as the driver brings them.
/// Source: 004, sections 7.3.1 to 7.3.3; memory-interference.md, sections 6.3.2 and 6.3.3.
///
/// Simplified: pages that may not be written are not coalesced, since each of them may become
/// writable on its own.
#include <algorithm>
#include <utility>

#include "models/driver/page_manager/mosaic/large_frames.hpp"
#include "models/driver/page_manager/mosaic/mosaic_parameters.hpp"
#include "models/driver/page_manager/mosaic/mosaic_statistics.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {
namespace {

class Mosaic final : public PageManager {
 public:
  Mosaic(const MosaicParameters& parameters, const Setup& setup)
      : PageManager(setup),
        parameters_(parameters),
        driver_(static_cast<LargeFrames::Owner>(setup.tenants)),
        large_(setup.capacity, setup.tenants + 1),
        whole_(setup.tenants) {
    set_tenants(statistics_, setup.tenants);
    // The frame at 0 that nobody gets.
    if (setup.capacity > 0) large_.take(driver_);
    count();
  }

  std::uint64_t capacity_unit() const override { return pages_per_large; }
  std::vector<FrameRun> allocate(const TenantPages& pages, bool paged) override;
  void reserved(const TenantPages& pages) override;
  void free(TenantId tenant, std::span<const FrameRun> frames, PageServices& services) override;
  void transfer_finished(const TenantPages& pages, PageServices& services) override;
  void rearranged(const TenantPages&, PageServices& services) override { try_again(services); }
  void end_tenant(TenantId tenant) override;
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override;

 private:
  using Regions = std::vector<std::uint64_t>;  ///< sorted numbers: address / 2 MiB

  PhysicalAddress take_table_frame() override;
  void free_table_frame(PhysicalAddress frame) override;
  PhysicalAddress take_page(TenantId tenant, VirtualPage page);
  void coalesce_if_full(std::uint32_t number, PageServices& services);
  void try_again(PageServices& services);
  void count();

  const MosaicParameters parameters_;
  const LargeFrames::Owner driver_;  ///< of page tables
  LargeFrames large_;
  std::vector<Regions> whole_;          ///< by tenant: 2 MiB of addresses of one buffer
  std::vector<std::uint32_t> refused_;  ///< full frames whose pages were not at rest
  MosaicStatistics statistics_;
};

void Mosaic::reserved(const TenantPages& pages) {
  Regions& regions = whole_[pages.tenant.value()];
  VirtualPage first{round_up(pages.first.value(), pages_per_large)};
  for (; first + pages_per_large <= pages.end(); first += pages_per_large) {
    const std::uint64_t region = first.value() / pages_per_large;
    const auto place = std::lower_bound(regions.begin(), regions.end(), region);
    if (place == regions.end() || *place != region) regions.insert(place, region);
  }
}

void Mosaic::end_tenant(TenantId tenant) {
  PageManager::end_tenant(tenant);
  whole_[tenant.value()].clear();
  count();
}

PhysicalAddress Mosaic::take_page(TenantId tenant, VirtualPage page) {
  const Regions& regions = whole_[tenant.value()];
  ++statistics_.base_allocations[tenant.value()];
  return std::binary_search(regions.begin(), regions.end(), page.value() / pages_per_large)
             ? large_.take_in_region(tenant.value(), page)
             : large_.take(tenant.value());
}

std::vector<FrameRun> Mosaic::allocate(const TenantPages& pages, bool paged) {
  if (pages.count * page_bytes > frames().free_bytes()) return {};
  if (!paged) reserved(pages);  // a whole buffer
  std::vector<FrameRun> runs;
  for (VirtualPage page = pages.first; page < pages.end();) {
    const bool begins_region =
        page.value() % pages_per_large == 0 && page + pages_per_large <= pages.end();
    const auto frame =
        begins_region ? large_.take_region(pages.tenant.value(), page.value() / pages_per_large)
                      : std::nullopt;
    if (frame) {
      append_frame(runs, *frame, large_page_bytes);
      ++statistics_.large_allocations[pages.tenant.value()];
      page += pages_per_large;
    } else {
      append_frame(runs, take_page(pages.tenant, page), page_bytes);
      ++page;
    }
  }
  for (const FrameRun& run : runs) allocator().take(run);
  statistics_.allocated_pages[pages.tenant.value()] += pages.count;
  count();
  return runs;
}

void Mosaic::free(TenantId tenant, std::span<const FrameRun> frames, PageServices& services) {
  for (const FrameRun& run : frames) {
    for (PhysicalAddress page = run.begin(); page < run.end(); page += page_bytes)
      large_.release(page);
    statistics_.allocated_pages[tenant.value()] -= run.bytes / page_bytes;
  }
  give_back(frames);
  count();
  try_again(services);
}

PhysicalAddress Mosaic::take_table_frame() {
  const PhysicalAddress frame = large_.take(driver_);
  allocator().take({frame.value(), page_bytes});
  count();
  return frame;
}

void Mosaic::free_table_frame(PhysicalAddress frame) {
  large_.release(frame);
  allocator().release(frame, page_bytes);
}

void Mosaic::transfer_finished(const TenantPages& pages, PageServices& services) {
  try_again(services);
  if (!parameters_.coalesce) return;
  for (const FrameRun& run : frames_of(pages)) {
    for (PhysicalAddress page = run.begin(); page < run.end(); page += page_bytes)
      large_.arrived(page);
    const std::uint32_t last = LargeFrames::number_of(run.end() + (-1));
    for (std::uint32_t number = LargeFrames::number_of(run.begin()); number <= last; ++number)
      coalesce_if_full(number, services);
  }
}

/// The frame may have changed hands since it was refused.
void Mosaic::coalesce_if_full(std::uint32_t number, PageServices& services) {
  const LargeFrames::LargeFrame& frame = large_[number];
  if (frame.region == LargeFrames::no_region || !frame.there.full()) return;
  const TenantId tenant{static_cast<std::uint16_t>(frame.owner)};
  const VirtualPage first{frame.region * pages_per_large};
  if (tables().is_large(tenant, first) ||
      !tables().entry(tenant, first).is(PageTableEntry::writable))
    return;
  if (services.coalesce(tenant, first)) {
    ++statistics_.coalesced[tenant.value()];
  } else {
    refused_.push_back(number);
  }
}

void Mosaic::try_again(PageServices& services) {
  for (const std::uint32_t number : std::exchange(refused_, {})) coalesce_if_full(number, services);
}

void Mosaic::count() {
  for (std::uint32_t tenant = 0; tenant < driver_; ++tenant)
    statistics_.owned_frames[tenant] = large_.owned(tenant);
  statistics_.free_frames = large_.free_frames();
  statistics_.guarantee_violations += large_.take_violations();
}

void Mosaic::serialize(Archive& archive) {
  PageManager::serialize(archive);
  archive(large_, whole_, refused_, statistics_);
}

std::unique_ptr<PageManager> make_mosaic(const PolicyChoice& choice,
                                         const PageManager::Setup& setup) {
  return std::make_unique<Mosaic>(choice.parameters<MosaicParameters>(), setup);
}

}  // namespace

PageManagerRow mosaic_pages() {
  return {"mosaic",
          "4 KiB pages that become 2 MiB pages in place (004, section 7.3)",
          {make_mosaic, &statistics_schema_of<MosaicStatistics>},
          &schema_of<MosaicParameters>()};
}

}  // namespace lockstep
