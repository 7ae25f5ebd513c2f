#include "models/driver/driver.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
#include "core/memory/round_up.hpp"
#include "models/driver/driver_services.hpp"
#include "models/isa/types.hpp"

namespace lockstep {

Driver::Driver(Setup setup)
    : page_manager_(std::move(setup.page_manager)),
      large_device_pages_(setup.device_pages != DevicePages::fitting &&
                          page_manager_->maps_large(false)),
      shares_device_pages_(large_device_pages_ && setup.device_pages == DevicePages::shared),
      news_(setup.to_gmmu, page_manager_->tables()),
      mapper_(*page_manager_, news_, setup.partitions),
      unmapper_(*page_manager_, news_),
      rearranger_(*page_manager_, news_, unmapper_),
      zeroed_(*page_manager_, news_, setup.partitions),
      next_address_(setup.tenants, isa::first_global_address),
      busy_(setup.tenants) {}

VirtualPage Driver::take_addresses(TenantId tenant, std::uint64_t bytes,
                                   std::optional<std::uint64_t> place, bool device) {
  std::uint64_t& next = next_address_[tenant.value()];
  const std::uint64_t alignment =
      std::max(mapped_pages(1, device) * page_bytes, address_alignment(bytes));
  const VirtualAddress base{place ? *place : round_up(next, alignment)};
  next = std::max(next, base.value() + (mapped_pages(bytes, device) + 1) * page_bytes);
  return page_of(base);
}

void Driver::give_back(TenantId tenant, std::span<const FrameRun> frames, const HostCycle& cycle) {
  Services services(*this, cycle);
  page_manager_->free(tenant, frames, services);
}

void Driver::map(MapRequest request, const HostCycle& cycle) {
  ++busy_[request.pages.tenant.value()];
  mapper_.map(std::move(request), cycle);
  finish_mappings(cycle);
}

void Driver::finish_mappings(const HostCycle& cycle) {
  for (const Mapper::Mapped& done : mapper_.take_finished()) {
    if (done.owner != MapRequest::nobody) mapped_.push_back(done.owner);
    --busy_[done.pages.tenant.value()];
    if (!done.in_gpu_memory) continue;
    Services services(*this, cycle);
    page_manager_->transfer_finished(done.pages, services);
  }
}

void Driver::mapped_by_gpu(const TenantPages& pages, std::span<const std::uint64_t> entries,
                           const HostCycle& cycle) {
  for (std::uint64_t i = 0; i < pages.count; ++i)
    page_manager_->mapped_by_gpu(pages.tenant, pages.first + i, {entries[i]});
  Services services(*this, cycle);
  page_manager_->transfer_finished(pages, services);
}

void Driver::unmap(const TenantPages& pages, UnmappingOwner owner, const HostCycle& cycle) {
  busy_[pages.tenant.value()] += 1 + rearranger_.splinter_parts(pages, cycle);
  if (rearranges(pages)) return postponed_.push_back({pages, owner});
  unmapper_.unmap(pages, owner, cycle);
}

void Driver::free_part(const TenantPages& pages, const HostCycle& cycle) {
  Services services(*this, cycle);
  for (TenantPages rest = pages; rest.count > 0;) {
    const std::uint64_t here =
        std::min(rest.count, pages_per_large - rest.first.value() % pages_per_large);
    const TenantPages part{rest.tenant, rest.first, here};
    if (!page_manager_->leave_holes(part, services)) unmap(part, nobody_unmaps, cycle);
    rest.first += here;
    rest.count -= here;
  }
}

bool Driver::settle(const TenantPages& pages, const HostCycle& cycle) {
  Services services(*this, cycle);
  return page_manager_->settle(pages, services);
}

void Driver::announce(const TenantPages& pages, const HostCycle& cycle) {
  if (!rearranges(pages)) news_.announce(pages, cycle);
}

void Driver::announce_invalid(TenantId tenant, VirtualPage page, const HostCycle& cycle) {
  news_.announce_invalid(tenant, page, cycle);
}

void Driver::zero_done(const ZeroRange& range, const HostCycle& cycle) {
  if (zeroed_.zero_done(range, cycle)) return;
  mapper_.zero_done(range, cycle);
  finish_mappings(cycle);
}

void Driver::transfer_done(const Transfer& transfer, const HostCycle& cycle) {
  mapper_.transfer_done(transfer, cycle);
  finish_mappings(cycle);
}

void Driver::memory_answered(const MessageHeader& message, const HostCycle& cycle) {
  const RequestOwner owner = RequestOwner::of(message.body<MemoryResponse>().tag);
  switch (owner.part) {
    case RequestPart::mapping:
      mapper_.written(owner.number, cycle);
      return finish_mappings(cycle);
    case RequestPart::rearrangement:
      rearranger_.written(owner.number, cycle);
      return finish_rearrangements(cycle);
    case RequestPart::transfer:
      break;
  }
  LOCKSTEP_CHECK(false, "the driver got an answer that it has not asked for");
}

void Driver::page_copied(const PageCopy& copy, const HostCycle& cycle) {
  const CopyOwner owner = CopyOwner::of(copy.id);
  if (owner.part == CopyPart::foreign_page) {
    --foreign_moves_;
    Services services(*this, cycle);
    return page_manager_->foreign_moved(owner.number, frame_of(PhysicalAddress{copy.to}), services);
  }
  rearranger_.copied(owner.number, cycle);
  finish_rearrangements(cycle);
}

/// Requests that waited for the pages go first, so that the page manager cannot keep them waiting
/// for ever.
void Driver::finish_rearrangements(const HostCycle& cycle) {
  for (const Rearranger::Finished& finished : rearranger_.take_finished()) {
    --busy_[finished.pages.tenant.value()];
    for (const Postponed& waiting : std::exchange(postponed_, {})) {
      --busy_[waiting.pages.tenant.value()];
      unmap(waiting.pages, waiting.owner, cycle);
    }
    if (!finished.left.empty()) give_back(finished.pages.tenant, finished.left, cycle);
    Services services(*this, cycle);
    page_manager_->rearranged(finished.pages, services);
  }
}

void Driver::unmapped(const MessageHeader& message, const HostCycle& cycle) {
  std::optional<Unmapped> done = unmapper_.take(message);
  if (!done) return;
  if (done->owner.part == UnmappingPart::rearrangement) {
    rearranger_.unmapped(*done, cycle);
    return finish_rearrangements(cycle);
  }
  --busy_[done->pages.tenant.value()];
  unmapped_.push_back(std::move(*done));
}

void Driver::act(const HostCycle& cycle) {
  mapper_.act(cycle);
  finish_mappings(cycle);
}

void Driver::end_tenant(TenantId tenant, const HostCycle& cycle) {
  next_address_[tenant.value()] = isa::first_global_address;
  news_.set_root(tenant, PhysicalAddress{}, cycle);
  page_manager_->end_tenant(tenant);
}

bool Driver::idle() const {
  return zeroed_.idle() && foreign_moves_ == 0 &&
         std::all_of(busy_.begin(), busy_.end(), [](std::uint32_t b) { return b == 0; });
}

std::string Driver::waiting_for() const {
  std::string text;
  if (mapper_.under_way() + unmapper_.under_way() > 0)
    text = "the driver maps " + std::to_string(mapper_.under_way()) + " and unmaps " +
           std::to_string(unmapper_.under_way()) + " ranges";
  if (rearranger_.under_way() > 0)
    text += (text.empty() ? "the driver rearranges " : ", rearranges ") +
            std::to_string(rearranger_.under_way());
  if (foreign_moves_ > 0)
    text += (text.empty() ? "the driver moves " : ", moves ") + std::to_string(foreign_moves_) +
            " foreign pages";
  return text;
}

void Driver::serialize(Archive& archive) {
  page_manager_->serialize(archive);
  archive(news_, mapper_, unmapper_, rearranger_, zeroed_, next_address_, busy_, postponed_,
          foreign_moves_, mapped_, unmapped_);
}

}  // namespace lockstep
