#include "models/driver/mapping/mapper.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/memory/slots.hpp"
#include "models/driver/mapping/memory_access.hpp"
#include "models/host_link/host_link.hpp"

namespace lockstep {

void Mapper::map(MapRequest request, const HostCycle& cycle) {
  const std::uint32_t index = take_slot(mappings_, free_);
  Mapping& mapping = mappings_[index];
  mapping = Mapping{};
  mapping.stage = Mapping::Stage::zeroing;
  mapping.request = std::move(request);
  set_entries(mapping);
  mapping.missing = send_zero_ranges(mapping.zeroing, partitions_, cycle);
  if (mapping.missing == 0) start_transfers(index, cycle);
}

void Mapper::set_entries(Mapping& mapping) {
  const MapRequest& request = mapping.request;
  const TenantPages& pages = request.pages;
  mapping.new_root = page_manager_.tables().root(pages.tenant) == PhysicalAddress{};
  mapping.zeroing = page_manager_.reserve(
      {pages.tenant, pages.first, std::max(request.reserved, pages.count)}, mapping.writes);
  for (const FrameRun& run : request.fresh)
    page_manager_.frames().append_used(run, mapping.zeroing);
  const std::uint64_t flags = request.flags | PageTableEntry::present;
  if (request.untouched) {
    page_manager_.mark_untouched(pages, mapping.writes);
  } else if (request.frames.empty()) {
    page_manager_.map_remote(pages, request.remote, flags, mapping.writes);
  } else {
    page_manager_.map(pages, request.frames, flags, request.paged, mapping.writes);
  }
}

void Mapper::start_transfers(std::uint32_t index, const HostCycle& cycle) {
  Mapping& mapping = mappings_[index];
  mapping.stage = Mapping::Stage::data;
  mapping.missing = mapping.request.data.size();
  for (Transfer& transfer : mapping.request.data) {
    transfer.owner = {TransferPart::mapping, index};
    cycle.link.start(transfer, cycle.now, cycle.outbox);
  }
  mapping.request.data.clear();
  if (mapping.missing == 0) write_entries(index, cycle);
}

void Mapper::write_entries(std::uint32_t index, const HostCycle& cycle) {
  Mapping& mapping = mappings_[index];
  mapping.stage = Mapping::Stage::entries;
  mapping.missing = mapping.writes.size();
  for (const TableWrite& write : mapping.writes)
    send_table_write(write, mapping.request.pages.tenant, {RequestPart::mapping, index}, cycle);
  mapping.writes.clear();
  if (mapping.missing == 0) entries_written(index, cycle);
}

void Mapper::answered(std::uint32_t index, const HostCycle& cycle) {
  if (--mappings_[index].missing > 0) return;
  switch (mappings_[index].stage) {
    case Mapping::Stage::zeroing:
      return start_transfers(index, cycle);
    case Mapping::Stage::data:
      return write_entries(index, cycle);
    default:
      return entries_written(index, cycle);
  }
}

void Mapper::zero_done(const ZeroRange& range, const HostCycle& cycle) {
  for (std::uint32_t m = 0; m < mappings_.size(); ++m) {
    if (mappings_[m].stage != Mapping::Stage::zeroing) continue;
    for (const FrameRun& run : mappings_[m].zeroing)
      if (run.physical == range.base) return answered(m, cycle);
  }
  LOCKSTEP_CHECK(false, "a range nobody maps was zeroed");
}

void Mapper::transfer_done(const Transfer& transfer, const HostCycle& cycle) {
  answered(static_cast<std::uint32_t>(transfer.owner.number), cycle);
}

void Mapper::entries_written(std::uint32_t index, const HostCycle& cycle) {
  Mapping& mapping = mappings_[index];
  mapping.stage = Mapping::Stage::waiting;
  const Time when = mapping.request.not_before;
  if (when <= cycle.now) return finish(index, cycle);
  const std::pair<Time, std::uint32_t> entry{when, index};
  announcements_.insert(std::upper_bound(announcements_.begin(), announcements_.end(), entry),
                        entry);
}

void Mapper::finish(std::uint32_t index, const HostCycle& cycle) {
  Mapping& mapping = mappings_[index];
  const MapRequest& request = mapping.request;
  const TenantId tenant = request.pages.tenant;
  if (mapping.new_root) news_.set_root(tenant, page_manager_.tables().root(tenant), cycle);
  news_.announce(request.pages, cycle);
  const bool in_gpu_memory =
      !request.frames.empty() && (request.flags & PageTableEntry::remote) == 0;
  finished_.push_back({request.pages, request.owner, in_gpu_memory});
  mapping = Mapping{};
  free_.push_back(index);
}

Time Mapper::next_activity() const {
  return announcements_.empty() ? Time::never() : announcements_.front().first;
}

void Mapper::act(const HostCycle& cycle) {
  while (next_activity() <= cycle.now) {
    const std::uint32_t index = announcements_.front().second;
    announcements_.erase(announcements_.begin());
    finish(index, cycle);
  }
}

bool Mapper::holds(const TenantPages& pages) const {
  return std::any_of(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    return mapping.stage != Mapping::Stage::unused && mapping.request.pages.overlaps(pages);
  });
}

void Mapper::serialize(Archive& archive) {
  archive(mappings_, free_, announcements_);
}

}  // namespace lockstep
