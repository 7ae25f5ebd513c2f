#include "models/driver/mapping/gmmu_news.hpp"

#include <algorithm>
#include <span>

#include "core/engine/outbox.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {
namespace {

/// Calls function(pages) for the parts of a range under one level-4 table each.
template <class Function>
void for_each_table(TenantPages pages, Function&& function) {
  while (pages.count > 0) {
    const std::uint64_t here =
        std::min(pages.count, pages_per_large - pages.first.value() % pages_per_large);
    function(TenantPages{pages.tenant, pages.first, here});
    pages.first += here;
    pages.count -= here;
  }
}

PageSpan span_of(const TenantPages& pages, std::uint32_t id) {
  return {
      pages.first.value(), static_cast<std::uint32_t>(pages.count), id, pages.tenant.value(), 0, 0};
}

}  // namespace

void GmmuNews::tell(const TenantPages& part, std::uint64_t marks, const HostCycle& cycle) {
  std::vector<std::uint64_t> entries;
  for (VirtualPage page = part.first; page < part.end(); ++page)
    entries.push_back(tables_.entry(part.tenant, page).bits);
  PagesMapped body;
  body.span = span_of(part, 0);
  body.entries_at = tables_.entry_address(part.tenant, part.first).value() | marks;
  cycle.outbox.send(to_gmmu_, cycle.now, kind_of(MessageKind::pages_mapped), body,
                    std::as_bytes(std::span(entries)));
}

void GmmuNews::announce(const TenantPages& pages, const HostCycle& cycle) {
  for_each_table(pages, [&](const TenantPages& part) {
    tell(part, tables_.is_large(part.tenant, part.first), cycle);
  });
}

void GmmuNews::coalesced(const TenantPages& pages, const HostCycle& cycle) {
  tell(pages, 3, cycle);
}

void GmmuNews::announce_invalid(TenantId tenant, VirtualPage page, const HostCycle& cycle) {
  PagesMapped body;
  body.span = span_of({tenant, page, 1}, 0);
  const std::uint64_t nothing = 0;
  cycle.outbox.send(to_gmmu_, cycle.now, kind_of(MessageKind::pages_mapped), body,
                    std::as_bytes(std::span(&nothing, 1)));
}

void GmmuNews::set_root(TenantId tenant, PhysicalAddress root, const HostCycle& cycle) {
  cycle.outbox.send(to_gmmu_, cycle.now, kind_of(MessageKind::set_root),
                    PageTableRoot{root.value(), tenant.value(), {}});
}

std::uint32_t GmmuNews::unmap(const TenantPages& pages, std::uint32_t id, const HostCycle& cycle) {
  std::uint32_t asked = 0;
  for_each_table(pages, [&](const TenantPages& part) {
    UnmapRequest body;
    body.span = span_of(part, id);
    body.entries_at = tables_.entry_address(part.tenant, part.first).value();
    if (tables_.is_large(part.tenant, part.first))
      body.large_at = tables_.directory_address(part.tenant, part.first).value() |
                      tables_.is_coalesced(part.tenant, part.first);
    ++asked;
    cycle.outbox.send(to_gmmu_, cycle.now, kind_of(MessageKind::unmap), body);
  });
  return asked;
}

void GmmuNews::zeroed_frames(const GranuleFrames& frames, const HostCycle& cycle) {
  cycle.outbox.send(to_gmmu_, cycle.now, kind_of(MessageKind::zeroed_frames), frames);
}

void GmmuNews::mark(MessageKind kind, const GridMark& mark, const HostCycle& cycle) {
  cycle.outbox.send(to_gmmu_, cycle.now, kind_of(kind), mark);
}

}  // namespace lockstep
