/// Parts of buffers that are freed before the rest (see tenant_buffers.hpp).
#include "core/error/error.hpp"
#include "models/host/tenant_buffers.hpp"

namespace lockstep {

void TenantBuffers::require_mapped(BufferId buffer, const std::string& where, std::uint64_t offset,
                                   std::uint64_t bytes) const {
  const State& state = buffers_[buffer.value()];
  const std::string tenant_uses = "tenant " + tenant_.name + " uses ";
  const std::string advice = "move the free step behind the last use";
  if (!state.mapped)
    throw UserError(
        where, tenant_uses + "buffer " + declaration(buffer).name + " after it was freed", advice);
  const auto freed = state.freed.find(offset, offset + bytes);
  if (!freed) return;
  const std::uint64_t width = isa::bytes_of(declaration(buffer).type);
  throw UserError(where,
                  tenant_uses + "elements " + std::to_string(freed->begin / width) + " to " +
                      std::to_string(freed->end / width - 1) + " of buffer " +
                      declaration(buffer).name + " after they were freed",
                  "leave them out, or " + advice);
}

void TenantBuffers::capture_device(BufferId buffer, std::uint64_t begin, std::uint64_t end,
                                   const HostCycle& cycle) {
  if (!is_capturing(buffer)) return;
  State& state = at(buffer);
  for (const FreedParts::Part& part : state.freed.rest(begin, end))
    cycle.link.start(transfer(Transfer::Kind::inspect, buffer, part.begin, part.end - part.begin),
                     cycle.now, cycle.outbox);
}

/// Releases a part: managed pages return to the host, where the CPU has them; a small buffer keeps
/// its part of a shared page.
bool TenantBuffers::release_part(BufferId buffer, std::uint64_t offset, std::uint64_t bytes,
                                 const HostCycle& cycle) {
  State& state = at(buffer);
  Driver& driver = services_.driver;
  const std::uint64_t size = state.host.size();
  const std::uint64_t unit = driver.page_manager().granule_pages() * page_bytes;
  const bool to_the_end = offset + bytes == size;
  const std::uint64_t begin = round_up(offset, unit);
  const std::uint64_t whole = state.shares ? round_up_to_page(size) : state.pages * page_bytes;
  const std::uint64_t end = to_the_end ? whole : (offset + bytes) / unit * unit;
  if (begin >= end) return true;
  const std::uint64_t last = std::min(end, size);
  if (memory_of(buffer) == MemoryKind::managed)
    return take_home(buffer, begin / page_bytes, round_up_to_page(last - begin) / page_bytes, true,
                     cycle);
  if (!driver.idle(id_)) return false;
  capture_device(buffer, begin, last, cycle);
  const VirtualPage first = page_of(state.address);
  for (const FreedParts::Part& part : state.freed.rest(begin, end)) {
    if (!state.shares)
      driver.free_part({id_, first + part.begin / page_bytes, (part.end - part.begin) / page_bytes},
                       cycle);
    state.freed.add(part);
  }
  return true;
}

}  // namespace lockstep
