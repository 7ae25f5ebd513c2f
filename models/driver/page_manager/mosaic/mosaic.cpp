#include "models/driver/page_manager/mosaic/mosaic.hpp"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr double fs_per_s = 1e15;

/// Returns the time of a copy; 004 copies over the channel, reading and writing every word of the
/// page.
Time time_of_copy(const MosaicParameters& parameters, std::uint64_t channel_bytes_per_second) {
  switch (parameters.compaction) {
    case PageCopying::channel:
      if (channel_bytes_per_second == 0) break;
      return Time{static_cast<std::int64_t>(2.0 * page_bytes * fs_per_s /
                                            static_cast<double>(channel_bytes_per_second))};
    case PageCopying::bulk:
      return parameters.bulk_copy;
    default:
      break;
  }
  return Time{};
}

}  // namespace

Mosaic::Mosaic(const MosaicParameters& parameters, const Setup& setup)
    : PageManager(setup),
      parameters_(parameters),
      mapping_(setup.mapping),
      copy_time_(time_of_copy(parameters, setup.channel_bytes_per_second)),
      driver_(static_cast<LargeFrames::Owner>(setup.tenants)),
      large_(setup.capacity, setup.tenants + 2),
      whole_(setup.tenants) {
  set_tenants(statistics_, setup.tenants);
  // The frame at 0 is never given out.
  if (setup.capacity > 0) large_.take(driver_);
  for (const Frame page : foreign_pages()) {
    foreign_numbers_[page] = static_cast<std::uint32_t>(foreign_numbers_.size());
    large_.take_foreign(address_of(page));
  }
  count();
}

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
  if (!paged) reserved(pages);  // device memory comes as a whole buffer
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
    for (PhysicalAddress page = run.begin(); page < run.end(); page += page_bytes) {
      const bool was_hole = is_hole(page);
      large_.release(page);
      statistics_.allocated_pages[tenant.value()] -= was_hole ? 0 : 1;
    }
  }
  give_back(frames);
  std::erase_if(emergency_, [&](std::uint32_t number) { return large_[number].holes.empty(); });
  count();
  try_again(services);
}

PhysicalAddress Mosaic::take_table_frame(TenantId) {
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
  for (const FrameRun& run : tables().frames_of(pages)) {
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
  for (std::uint32_t tenant = 0; tenant < driver_; ++tenant) {
    statistics_.owned_frames[tenant] = large_.owned(tenant);
    statistics_.unused_pages[tenant] = large_.unused(tenant);
  }
  statistics_.free_frames = large_.free_frames();
  statistics_.emergency_frames = emergency_.size();
  statistics_.guarantee_violations += large_.take_violations();
}

void Mosaic::serialize(Archive& archive) {
  PageManager::serialize(archive);
  archive(large_, foreign_numbers_, whole_, refused_, emergency_, compactions_, emptying_,
          statistics_);
}

namespace {

std::unique_ptr<PageManager> make_mosaic(const PolicyChoice& choice,
                                         const PageManager::Setup& setup) {
  return std::make_unique<Mosaic>(choice.parameters<MosaicParameters>(), setup);
}

PageManagerNeeds needs_of_mosaic(const PolicyChoice& choice) {
  const auto& parameters = choice.parameters<MosaicParameters>();
  return {parameters.compacts(), parameters.stall, true};
}

}  // namespace

PageManagerRow mosaic_pages() {
  return {"mosaic",
          "4 KiB pages that become 2 MiB pages in place (004, section 7.3)",
          {make_mosaic, &statistics_schema_of<MosaicStatistics>, needs_of_mosaic},
          &schema_of<MosaicParameters>()};
}

}  // namespace lockstep
