#include "models/driver/driver_services.hpp"

namespace lockstep {

bool Driver::Services::at_rest(const TenantPages& pages) const {
  for (VirtualPage page = pages.first; page < pages.end(); ++page) {
    const PageTableEntry entry = driver_.tables().entry(pages.tenant, page);
    if (!entry.is(PageTableEntry::present) || entry.is(PageTableEntry::remote)) return false;
  }
  if (driver_.mapper_.holds(pages) || driver_.unmapper_.holds(pages) || driver_.rearranges(pages))
    return false;
  for (const FrameRun& run : driver_.tables().frames_of(pages))
    if (cycle_.link.uses(run)) return false;
  return true;
}

bool Driver::Services::coalesce(TenantId tenant, VirtualPage first) {
  const TenantPages pages{tenant, first, pages_per_large};
  const PageTables& tables = driver_.tables();
  if (first.value() % pages_per_large != 0 || !at_rest(pages) || tables.is_large(tenant, first) ||
      !driver_.tables().in_large_frame(tenant, first))
    return false;
  const auto permission = [&](VirtualPage page) {
    return tables.entry(tenant, page).is(PageTableEntry::writable);
  };
  for (VirtualPage page = first; page < pages.end(); ++page)
    if (permission(page) != permission(first)) return false;
  ++driver_.busy_[tenant.value()];
  driver_.rearranger_.coalesce(pages, cycle_);
  return true;
}

bool Driver::Services::splinter(TenantId tenant, VirtualPage first) {
  const TenantPages pages{tenant, first, pages_per_large};
  if (first.value() % pages_per_large != 0 || !at_rest(pages) ||
      !driver_.tables().is_large(tenant, first))
    return false;
  ++driver_.busy_[tenant.value()];
  driver_.rearranger_.splinter(pages, cycle_);
  return true;
}

bool Driver::Services::copy(TenantId tenant, VirtualPage page, Frame to) {
  const TenantPages pages{tenant, page, 1};
  if (!at_rest(pages) || driver_.tables().is_large(tenant, page) ||
      !cycle_.link.in_one_partition(driver_.tables().frames_of(pages).front().begin(),
                                    address_of(to)))
    return false;
  ++driver_.busy_[tenant.value()];
  driver_.rearranger_.copy(pages, to, cycle_);
  return true;
}

void Driver::Services::move_foreign(std::uint32_t number, Frame to) {
  const PageManager& page_manager = *driver_.page_manager_;
  const PhysicalAddress from = address_of(page_manager.foreign_pages()[number]);
  ++driver_.foreign_moves_;
  cycle_.link.send_copy(
      {from.value(), address_of(to).value(), page_manager.copy_time().femtoseconds(),
       CopyOwner{CopyPart::foreign_page, number}.bits(), 0},
      cycle_.now, cycle_.outbox);
}

}  // namespace lockstep
