/// A tenant's buffers: room and addresses for them, their first content, their end, and what is
/// read of them for checking (see tenant_run.hpp).
///
/// Source: architecture.md, section 8, rules 7, 10 and 11, and "What `--check` means".
#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "models/host/remote_memory.hpp"
#include "models/host/tenant_run.hpp"
#include "models/isa/load.hpp"

namespace lockstep {

std::vector<TenantRun::BufferState> TenantRun::fresh_buffers() const {
  std::vector<BufferState> buffers;
  for (std::uint32_t b = 0; b < contents_.size(); ++b) {
    buffers.emplace_back().host = HostBuffer(declaration(b).bytes(), contents_[b]);
  }
  for (const isa::GlobalVariable& global : module_.globals) {
    buffers.emplace_back().host = HostBuffer(std::max<std::uint64_t>(global.bytes, 1), nullptr);
  }
  return buffers;
}

/// Memory that cannot be paged: device buffers, variables, page tables.
bool TenantRun::has_room(Time now, HostShared& shared, Outbox& outbox) const {
  std::uint64_t need = 0, pages = 0, largest = 0;
  std::uint32_t culprit = 0;
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    const std::uint64_t here = shared.driver.mapped_pages(buffers_[b].host.size());
    pages += here + 1;
    if (memory_of(b) != MemoryKind::device) continue;
    need += here * page_bytes;
    if (here > largest) culprit = b;
    largest = std::max(largest, here);
  }
  // Aligned buffers may each begin a table of their own.
  need += Driver::table_bytes(pages) + buffers_.size() * page_bytes;
  const std::uint64_t free = shared.driver.free_bytes();
  if (need <= free) return true;
  if (shared.managed.make_room(need - free, shared.context(now, outbox)) || !shared.driver.idle())
    return false;
  const bool declared = culprit < tenant_.workload.buffers.size();
  const bool stay = shared.managed.resident_pages() > 0 && !shared.managed.evicts();
  throw UserError(
      declared && largest > 0 ? declaration(culprit).where : tenant_.where,
      "out of GPU memory: tenant " + tenant_.name + " needs " + std::to_string(need) +
          " bytes for device buffers and page tables" +
          (declared && largest > 0 ? ", most of them for buffer " + declaration(culprit).name
                                   : "") +
          "; " + std::to_string(free) + " of " + std::to_string(shared.driver.capacity()) +
          " are free" + (stay ? " and policies.eviction is none" : ""),
      std::string("raise gpu.memory.capacity") + (stay ? ", choose an eviction policy" : "") +
          " or use smaller buffers");
}

void TenantRun::map_buffer(std::uint32_t b, Time now, HostShared& shared, Outbox& outbox) {
  BufferState& state = buffers_[b];
  const std::uint64_t bytes = state.host.size();
  MapRequest request;
  request.tenant = index_;
  request.page = shared.driver.take_addresses(index_, bytes);
  request.reserved = shared.driver.mapped_pages(bytes);
  request.flags = PageTableEntry::writable;
  state.address = request.page * page_bytes;
  switch (memory_of(b)) {
    case MemoryKind::device:
      request.count = request.reserved;
      request.paged = false;
      request.frames = shared.driver.take_frames(request.count, false);
      if (request.frames.empty()) {
        throw UserError(tenant_.where,
                        "out of GPU memory: no room for " + std::to_string(request.count) +
                            " pages that lie as page_manager wants them",
                        "raise gpu.memory.capacity");
      }
      request.fresh = request.frames;
      break;
    case MemoryKind::pinned:
      request.count = round_up_to_page(bytes) / page_bytes;
      request.remote = remote_address(index_, b);
      break;
    case MemoryKind::managed:
      state.allocation =
          shared.managed.add(index_, b, request.page, round_up_to_page(bytes) / page_bytes);
      break;
  }
  state.mapped = true;
  shared.driver.map(std::move(request), now, shared.link, outbox);
}

/// Queues the upload of the variables' initial content.
void TenantRun::upload_variables(HostShared& shared) {
  const std::size_t declared = tenant_.workload.buffers.size();
  std::vector<std::uint64_t> addresses;
  for (std::size_t g = declared; g < buffers_.size(); ++g) {
    addresses.push_back(buffers_[g].address);
  }
  for (std::size_t g = 0; g < module_.globals.size(); ++g) {
    const isa::GlobalVariable& global = module_.globals[g];
    if (global.initial.empty()) continue;
    const auto b = static_cast<std::uint32_t>(declared + g);
    std::vector<std::byte> image = global.initial;
    isa::relocate(image, global.relocations, module_, addresses);
    std::memcpy(buffers_[b].host.at(0, image.size()).data(), image.data(), image.size());
    Operation upload;
    upload.kind = Operation::Kind::copy;
    upload.to_gpu = true;
    upload.id = shared.next_operation++;
    upload.buffer = b;
    upload.bytes = image.size();
    waiting_operation_ = upload.id;
    streams_[0].push_back(std::move(upload));
  }
}

bool TenantRun::release(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox) {
  if (!streams_idle()) return false;
  BufferState& state = buffers_[buffer];
  const MemoryKind memory = memory_of(buffer);
  if (memory == MemoryKind::managed) {
    if (!state.held) {
      state.held = true;
      shared.managed.hold(state.allocation);
    }
    if (!shared.managed.settled(state.allocation)) return false;
  }
  if (buffer < tenant_.workload.buffers.size()) capture(buffer, now, shared, outbox);
  if (memory == MemoryKind::managed) {
    if (!shared.managed.release(state.allocation, shared.context(now, outbox))) return false;
  } else {
    const std::uint64_t pages = memory == MemoryKind::device
                                    ? shared.driver.mapped_pages(state.host.size())
                                    : round_up_to_page(state.host.size()) / page_bytes;
    shared.driver.unmap(index_, state.address / page_bytes, pages, MapRequest::nobody, now, outbox);
  }
  state.mapped = false;
  return true;
}

void TenantRun::capture(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox) {
  BufferState& state = buffers_[buffer];
  const Buffer& declared = declaration(buffer);
  const bool is_wanted = first_ && !failure_ && (rounds_ > 0 || !stopped_);
  if (!capture_ || !is_wanted || !declared.check || declared.memory == MemoryKind::pinned ||
      state.is_captured)
    return;
  const auto read = [&](std::uint64_t offset, std::uint64_t bytes) {
    start_transfer(Transfer::Kind::inspect, buffer, offset, bytes, 0, now, shared, outbox);
  };
  state.is_captured = true;
  if (declared.memory == MemoryKind::device) {
    state.captured.resize(declared.bytes());
    return read(0, declared.bytes());
  }
  const auto bytes = state.host.at(0, declared.bytes());
  state.captured.assign(bytes.begin(), bytes.end());
  const ManagedPage first = shared.managed.allocation(state.allocation).first;
  for (const PageRange& range : shared.managed.resident_ranges(state.allocation)) {
    const std::uint64_t offset = (range.first - first) * page_bytes;
    read(offset, std::min(range.count * page_bytes, declared.bytes() - offset));
  }
}

std::span<std::byte> TenantRun::host_bytes(const Transfer& transfer, std::uint64_t offset,
                                           std::uint64_t bytes) {
  if (transfer.kind == Transfer::Kind::inspect)
    return {left(transfer.buffer).captured.data() + offset, bytes};
  return buffers_[transfer.buffer].host.at(offset, bytes);
}

}  // namespace lockstep
