#include "models/driver/mapping/rearranger.hpp"

#include <algorithm>
#include <utility>

#include "core/memory/slots.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t lines_per_page = page_bytes / line_bytes;

}  // namespace

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
  unmapper_.unmap(pages, unmapping_owner | begin(pages, Rearrangement::Kind::splinter), cycle);
}

void Rearranger::copy(const TenantPages& page, Frame to, const HostCycle& cycle) {
  const std::uint32_t number = begin(page, Rearrangement::Kind::copy);
  rearrangements_[number].to = to;
  unmapper_.unmap(page, unmapping_owner | number, cycle);
}

void Rearranger::unmapped(const Unmapped& unmapped, const HostCycle& cycle) {
  const std::uint32_t number = unmapped.owner & ~unmapping_owner;
  Rearrangement& r = rearrangements_[number];
  r.entries = unmapped.entries;
  if (r.kind != Rearrangement::Kind::copy) return restore_entries(number, cycle);
  r.missing = lines_per_page;
  const PhysicalAddress from{PageTableEntry{r.entries.front()}.address()};
  for (std::uint32_t line = 0; line < lines_per_page; ++line)
    send_line_read(from + line * line_bytes, r.pages.tenant,
                   {DriverTag::Part::copy, number * lines_per_page + line}, cycle);
}

void Rearranger::line_answered(const MessageHeader& message, const HostCycle& cycle) {
  const auto& response = message.body<MemoryResponse>();
  const DriverTag tag = DriverTag::of(response.tag);
  const std::uint32_t number = tag.number / lines_per_page, line = tag.number % lines_per_page;
  Rearrangement& r = rearrangements_[number];
  if (response.operation == MemoryOperation::load)
    return send_line_write(address_of(r.to) + line * line_bytes, message.payload(), r.pages.tenant,
                           tag, cycle);
  if (--r.missing == 0) restore_entries(number, cycle);
}

/// The pages are mapped again, a copy where it is now.
void Rearranger::restore_entries(std::uint32_t number, const HostCycle& cycle) {
  const Rearrangement& r = rearrangements_[number];
  std::vector<TableWrite> writes;
  for (std::uint64_t i = 0; i < r.pages.count; ++i) {
    PageTableEntry entry{r.entries[i] & ~PageTableEntry::disabled};
    if (r.kind == Rearrangement::Kind::copy)
      entry = PageTableEntry::of(address_of(r.to).value(), entry.bits & PageTableEntry::flags);
    page_manager_.set(r.pages.tenant, r.pages.first + i, entry, writes);
  }
  write(number, writes, cycle);
}

void Rearranger::write(std::uint32_t number, const std::vector<TableWrite>& writes,
                       const HostCycle& cycle) {
  rearrangements_[number].missing = writes.size();
  for (const TableWrite& one : writes)
    send_table_write(one, rearrangements_[number].pages.tenant,
                     {DriverTag::Part::rearrangement, number}, cycle);
}

std::optional<Rearranger::Finished> Rearranger::written(std::uint32_t number,
                                                        const HostCycle& cycle) {
  if (--rearrangements_[number].missing > 0) return std::nullopt;
  const Rearrangement r = std::exchange(rearrangements_[number], {});
  free_.push_back(number);
  if (r.kind == Rearrangement::Kind::coalesce) {
    news_.coalesced(r.pages, cycle);
  } else {
    news_.announce(r.pages, cycle);
  }
  Finished finished{r.pages, {}};
  if (r.kind == Rearrangement::Kind::copy)
    finished.left.push_back({PageTableEntry{r.entries.front()}.address(), page_bytes});
  return finished;
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
