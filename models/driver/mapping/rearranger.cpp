#include "models/driver/mapping/rearranger.hpp"

#include <algorithm>
#include <utility>

#include "core/memory/slots.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {
std::uint32_t Rearranger::begin(const TenantPages& pages, Rearrangement::Kind kind) {
  const std::uint32_t number = take_slot(rearrangements_, free_);
  rearrangements_[number] = {};
  rearrangements_[number].pages = pages;
  rearrangements_[number].kind = kind;
  return number;
}

void Rearranger::coalesce(const TenantPages& pages, const HostCycle& cycle) {
  std::vector<TableWrite> writes;
  page_manager_.coalesce(pages.tenant, pages.first, writes);
  write(begin(pages, Rearrangement::Kind::coalesce), writes, cycle);
}

void Rearranger::splinter(const TenantPages& pages, const HostCycle& cycle) {
  const std::uint32_t number = begin(pages, Rearrangement::Kind::splinter);
  unmapper_.unmap(pages, {UnmappingPart::rearrangement, number}, cycle);
}

std::uint32_t Rearranger::splinter_parts(const TenantPages& pages, const HostCycle& cycle) {
  std::uint32_t count = 0;
  for (const VirtualPage at : {pages.first, pages.end() - 1}) {
    const VirtualPage first = at.rounded_down(pages_per_large);
    const TenantPages large{pages.tenant, first, pages_per_large};
    const bool whole = pages.first <= first && large.end() <= pages.end();
    if (whole || !page_manager_.tables().is_large(pages.tenant, at) || holds(large)) continue;
    splinter(large, cycle);
    ++count;
  }
  return count;
}

void Rearranger::copy(const TenantPages& page, Frame to, const HostCycle& cycle) {
  const std::uint32_t number = begin(page, Rearrangement::Kind::copy);
  rearrangements_[number].to = to;
  unmapper_.unmap(page, {UnmappingPart::rearrangement, number}, cycle);
}

void Rearranger::unmapped(const Unmapped& unmapped, const HostCycle& cycle) {
  const std::uint32_t number = unmapped.owner.number;
  Rearrangement& r = rearrangements_[number];
  r.entries = unmapped.entries;
  if (r.kind != Rearrangement::Kind::copy) return restore_entries(number, cycle);
  const PhysicalAddress from{PageTableEntry{r.entries.front()}.address()};
  cycle.link.send_copy(
      {from.value(), address_of(r.to).value(), page_manager_.copy_time().femtoseconds(),
       CopyOwner{CopyPart::rearrangement, number}.bits(), 0},
      cycle.now, cycle.outbox);
}

/// Maps the pages again, a copied page at its new place. Pages freed meanwhile stay unmapped.
void Rearranger::restore_entries(std::uint32_t number, const HostCycle& cycle) {
  Rearrangement& r = rearrangements_[number];
  std::vector<TableWrite> writes;
  for (std::uint64_t i = 0; i < r.pages.count; ++i) {
    const VirtualPage page = r.pages.first + i;
    PageTableEntry entry{r.entries[i] & ~PageTableEntry::disabled};
    const bool leaves = page_manager_.is_hole(PhysicalAddress{entry.address()});
    if (leaves || r.kind == Rearrangement::Kind::copy)
      append_frame(r.left, PhysicalAddress{entry.address()}, page_bytes);
    if (leaves) continue;
    if (r.kind == Rearrangement::Kind::copy)
      entry = PageTableEntry::of(address_of(r.to).value(), entry.bits & PageTableEntry::flags);
    page_manager_.set(r.pages.tenant, page, entry, writes);
  }
  write(number, writes, cycle);
}

void Rearranger::write(std::uint32_t number, const std::vector<TableWrite>& writes,
                       const HostCycle& cycle) {
  rearrangements_[number].missing = writes.size();
  for (const TableWrite& one : writes)
    send_table_write(one, rearrangements_[number].pages.tenant,
                     {RequestPart::rearrangement, number}, cycle);
  if (writes.empty()) finish(number, cycle);
}

void Rearranger::written(std::uint32_t number, const HostCycle& cycle) {
  if (--rearrangements_[number].missing == 0) finish(number, cycle);
}

void Rearranger::finish(std::uint32_t number, const HostCycle& cycle) {
  Rearrangement r = std::exchange(rearrangements_[number], {});
  free_.push_back(number);
  if (r.kind == Rearrangement::Kind::coalesce) {
    news_.coalesced(r.pages, cycle);
  } else {
    news_.announce(r.pages, cycle);
  }
  finished_.push_back({r.pages, std::move(r.left)});
}

bool Rearranger::holds(const TenantPages& pages) const {
  return std::any_of(rearrangements_.begin(), rearrangements_.end(), [&](const Rearrangement& r) {
    return r.pages.count > 0 && r.pages.overlaps(pages);
  });
}

void Rearranger::serialize(Archive& archive) {
  archive(rearrangements_, free_);
}

}  // namespace lockstep
