/// Room and addresses for a tenant's buffers (see tenant_buffers.hpp).
#include <algorithm>

#include "core/error/error.hpp"
#include "models/host/remote_memory.hpp"
#include "models/host/tenant_buffers.hpp"
#include "models/noc/peer_address.hpp"

namespace lockstep {

/// Returns whether there is memory for data that cannot be paged: device buffers, variables, page
/// tables.
bool TenantBuffers::has_room(const HostCycle& cycle) const {
  const Driver& driver = services_.driver;
  std::uint64_t need = 0, pages = 0, most = 0;
  BufferId largest{0};
  SmallBuffers small;  // layout of the small buffers, computed ahead
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    const std::uint64_t bytes = buffers_[b].host.size();
    const bool shares = buffers_[b].shares;
    if (shares && small.take(bytes)) continue;
    if (shares) small.add(VirtualPage{pages}, bytes);
    const std::uint64_t here = buffers_[b].pages;
    pages += here + 1;
    if (memory_of(BufferId{b}) != MemoryKind::device || !lies_here(BufferId{b})) continue;
    need += here * page_bytes;
    if (here > most) largest = BufferId{b};
    most = std::max(most, here);
  }
  // Aligned buffers may each begin a table of their own.
  need += PageManager::table_bytes(pages) + buffers_.size() * page_bytes;
  if (!services_.driver.settle(
          {id_, page_of(VirtualAddress{isa::first_global_address}), need / page_bytes}, cycle))
    return false;
  const std::uint64_t free = driver.free_bytes();
  if (need <= free) return true;
  if (services_.managed.make_room(need - free, cycle) || !driver.idle()) return false;
  fail_for_room(need, most > 0 ? largest : BufferId::none());
}

/// Throws for lack of room.  `largest`: largest device buffer, if there is one.
void TenantBuffers::fail_for_room(std::uint64_t need, BufferId largest) const {
  const bool blames = largest.valid() && is_declared(largest);
  const Evictor& evictor = services_.managed.evictor();
  const bool stay = services_.managed.pages().resident() > 0 && !evictor.evicts();
  throw UserError(blames ? declaration(largest).where : tenant_.where,
                  "out of GPU memory: tenant " + tenant_.name + " needs " + std::to_string(need) +
                      " bytes for device buffers and page tables" +
                      (blames ? ", most of them for buffer " + declaration(largest).name : "") +
                      "; " + std::to_string(services_.driver.free_bytes()) + " of " +
                      std::to_string(services_.driver.page_manager().frames().capacity()) +
                      " are free" + (stay ? " and policies.eviction is " + evictor.name() : ""),
                  std::string("raise gpu.memory.capacity") +
                      (stay ? ", choose an eviction policy" : "") + " or use smaller buffers");
}

void TenantBuffers::map_all(const HostCycle& cycle) {
  for (std::uint32_t b = 0; b < count(); ++b) map(BufferId{b}, cycle);
}

void TenantBuffers::map(BufferId buffer, const HostCycle& cycle) {
  State& state = at(buffer);
  const std::uint64_t bytes = state.host.size();
  Driver& driver = services_.driver;
  state.mapped = true;
  if (const auto shared = state.shares ? small_.take(bytes) : std::nullopt) {
    state.address = *shared;
    return;
  }
  MapRequest request;
  const std::optional<std::uint64_t> place =
      is_declared(buffer) ? declaration(buffer).address : std::nullopt;
  const std::uint64_t wanted = state.shares ? large_page_bytes : bytes;
  request.pages = {id_, driver.take_addresses(id_, wanted, place, has_device_pages(*this, buffer)),
                   0};
  request.reserved = state.pages;
  request.flags = PageTableEntry::writable;
  state.address =
      state.shares ? small_.add(request.pages.first, bytes) : address_of(request.pages.first);
  switch (memory_of(buffer)) {
    case MemoryKind::device:
      request.pages.count = request.reserved;
      request.paged = false;
      request.frames = driver.take_frames(request.pages, false);
      if (request.frames.empty()) {
        throw UserError(tenant_.where,
                        "out of GPU memory: no room for " + std::to_string(request.pages.count) +
                            " pages that lie as page_manager wants them",
                        "raise gpu.memory.capacity");
      }
      request.fresh = request.frames;
      break;
    case MemoryKind::pinned:
      request.pages.count = round_up_to_page(bytes) / page_bytes;
      request.remote = remote_address(id_, buffer);
      break;
    case MemoryKind::managed:
      state.allocation = services_.managed.add(id_, buffer, request.pages.first,
                                               round_up_to_page(bytes) / page_bytes);
      if (tenant_.members() > 1)
        services_.managed.share(state.allocation, services_.numbers[id_.value()], buffer);
      if (tenant_.members() == 1 && services_.managed.offers_untouched() &&
          state.host.is_untouched()) {
        services_.managed.offer(state.allocation);
        request.pages.count = round_up_to_page(bytes) / page_bytes;
        request.untouched = true;
      }
      break;
  }
  driver.map(std::move(request), cycle);
}

void TenantBuffers::map_peer(BufferId buffer, const TenantBuffers& owner, const HostCycle& cycle) {
  State& state = at(buffer);
  Driver& driver = services_.driver;
  const VirtualPage first = driver.take_addresses(
      id_, state.host.size(), declaration(buffer).address, has_device_pages(*this, buffer));
  state.mapped = true;
  state.address = address_of(first);
  LOCKSTEP_CHECK(state.address == owner.address(buffer),
                 "a buffer has another address on another GPU");
  if (!is_seen(buffer)) return;
  MapRequest request;
  request.pages = {id_, first, state.pages};
  request.reserved = state.pages;
  request.paged = false;
  request.flags = PageTableEntry::writable | PageTableEntry::remote;
  request.frames = owner.services_.driver.tables().frames_of({owner.id_, first, state.pages});
  for (FrameRun& run : request.frames)
    run.physical = peer_address(owner.services_.gpu, run.physical);
  driver.map(std::move(request), cycle);
}

bool TenantBuffers::is_seen(BufferId buffer) const {
  if (lies_here(buffer)) return true;
  const Fabric* const fabric = services_.fabric;
  return fabric != nullptr && fabric->has_way(services_.gpu, tenant_.gpus[member_of(buffer)]);
}

}  // namespace lockstep
