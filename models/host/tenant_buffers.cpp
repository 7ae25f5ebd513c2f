#include "models/host/tenant_buffers.hpp"

#include <algorithm>
#include <numeric>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "models/host/remote_memory.hpp"

namespace lockstep {

/// Returns the buffer of each variable of the module.  Variables without a declared buffer come
/// behind all of these.
static std::vector<BufferId> place_variables(const Workload& workload, const isa::Module& module) {
  std::vector<BufferId> places;
  auto next = static_cast<std::uint32_t>(workload.buffers.size());
  for (const isa::GlobalVariable& global : module.globals) {
    const auto declared = workload.buffer_of_symbol(global.name);
    places.push_back(BufferId{declared ? *declared : next++});
  }
  return places;
}

TenantBuffers::TenantBuffers(const Tenant& tenant, TenantId id, const isa::Module& module,
                             bool capture, TenantServices& services)
    : tenant_(tenant),
      id_(id),
      module_(module),
      services_(services),
      contents_(make_contents(tenant.workload)),
      variables_(place_variables(tenant.workload, module)),
      keeps_first_round_(capture),
      is_capturing_(capture),
      names_(contents_.size()),
      buffers_(fresh()) {
  std::iota(names_.begin(), names_.end(), 0u);
}

std::vector<TenantBuffers::State> TenantBuffers::fresh() const {
  std::vector<State> buffers;
  for (std::uint32_t b = 0; b < contents_.size(); ++b) {
    State& state = buffers.emplace_back();
    const std::uint64_t bytes = declaration(BufferId{b}).bytes();
    state.host = HostBuffer(bytes, contents_[b]);
    if (keeps_first_round_ && has_gpu_copy(BufferId{b}))
      state.captured = HostBuffer(bytes, nullptr);
  }
  for (std::uint32_t g = 0; g < module_.globals.size(); ++g) {
    const isa::GlobalVariable& global = module_.globals[g];
    if (is_declared(variables_[g])) continue;
    buffers.emplace_back().host =
        HostBuffer(global.name == isa::heap_name ? tenant_.workload.heap
                                                 : std::max<std::uint64_t>(global.bytes, 1),
                   nullptr);
  }
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    State& state = buffers[b];
    const bool device = has_device_pages(*this, BufferId{b});
    // Pages shared with other GPUs hold bytes of this buffer only.
    const bool is_alone = tenant_.members() > 1;
    state.shares = device && !is_alone && services_.driver.shares_page(state.host.size());
    state.pages =
        state.shares ? pages_per_large : services_.driver.mapped_pages(state.host.size(), device);
  }
  return buffers;
}

BufferDirectory::Description TenantBuffers::describe(BufferId buffer) const {
  if (is_heap(buffer)) return {tenant_.workload.heap_where, "the heap of tenant " + tenant_.name};
  return {declaration(buffer).where,
          "buffer " + declaration(buffer).name + " of tenant " + tenant_.name};
}

std::vector<std::uint64_t> TenantBuffers::addresses() const {
  std::vector<std::uint64_t> result;
  for (const std::uint32_t meaning : names_) result.push_back(address(BufferId{meaning}).value());
  return result;
}

std::vector<BufferBound> TenantBuffers::bounds() const {
  std::vector<BufferBound> all;
  for (std::uint32_t b = 0; b < count(); ++b)
    if (buffers_[b].mapped && is_seen(BufferId{b}))
      all.push_back({buffers_[b].address.value(), buffers_[b].host.size(), b, 0});
  std::sort(all.begin(), all.end(),
            [](const BufferBound& a, const BufferBound& b) { return a.address < b.address; });
  return all;
}

TenantPages TenantBuffers::pages_of(BufferId buffer, std::uint64_t offset,
                                    std::uint64_t bytes) const {
  const VirtualAddress begin = address(buffer) + offset;
  return {id_, page_of(begin), page_of(begin + (bytes - 1)) - page_of(begin) + 1};
}

Transfer TenantBuffers::transfer(Transfer::Kind kind, BufferId buffer, std::uint64_t offset,
                                 std::uint64_t bytes) const {
  const TenantPages pages = pages_of(buffer, offset, bytes);
  Transfer transfer;
  transfer.kind = kind;
  transfer.tenant = id_.value();
  transfer.buffer = buffer.value();
  transfer.offset = offset;
  transfer.bytes = bytes;
  transfer.is_initial = kind == Transfer::Kind::to_gpu && is_initial(buffer, offset, bytes);
  transfer.frames = services_.driver.tables().frames_of(pages);
  const std::uint64_t before = (address(buffer).value() + offset) % page_bytes;
  transfer.frames.front().physical += before;
  transfer.frames.front().bytes -= before;
  transfer.frames.back().bytes -= pages.count * page_bytes - before - bytes;
  return transfer;
}

bool TenantBuffers::is_initial(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) const {
  return is_declared(buffer) && is_computed(declaration(buffer).initial) &&
         home_->at(buffer).host.known(offset, bytes) != Known::nothing;
}

bool TenantBuffers::is_rearranged(BufferId buffer, std::uint64_t offset,
                                  std::uint64_t bytes) const {
  return services_.driver.rearranges(pages_of(buffer, offset, bytes));
}

void TenantBuffers::hold(State& state) {
  if (state.held) return;
  state.held = true;
  services_.managed.hold(state.allocation);
}

bool TenantBuffers::take_off(BufferId buffer, std::uint64_t first, std::uint64_t pages, bool writes,
                             const HostCycle& cycle) {
  State& state = at(buffer);
  hold(state);
  return services_.managed.migrate_home(state.allocation, first, pages, writes, cycle);
}

bool TenantBuffers::take_home(BufferId buffer, std::uint64_t first, std::uint64_t pages,
                              bool writes, const HostCycle& cycle) {
  bool is_home = true;
  for (TenantBuffers* one : team_)
    is_home &=
        one->take_off(buffer, first, pages, writes,
                      one == this ? cycle : one->services_.cycle_at(cycle.now, cycle.outbox));
  if (!is_home) return false;
  for (TenantBuffers* one : team_) {
    one->at(buffer).held = false;
    one->services_.managed.let_go(one->at(buffer).allocation, cycle.now);
  }
  return true;
}

bool TenantBuffers::release(BufferId buffer, const HostCycle& cycle) {
  State& state = at(buffer);
  const MemoryKind memory = memory_of(buffer);
  if (memory == MemoryKind::managed) {
    hold(state);
    if (!services_.managed.settled(state.allocation)) return false;
  }
  if (is_rearranged(buffer, 0, state.host.size())) return false;
  if (!state.freed.empty() && !services_.driver.idle(id_)) return false;
  if (is_declared(buffer)) capture(buffer, cycle);
  if (memory == MemoryKind::managed) {
    if (!services_.managed.release(state.allocation, cycle)) return false;
  } else if (!is_seen(buffer)) {
    // The buffer has only addresses, and no memory.
  } else if (!state.shares || small_.leave(state.address)) {
    const VirtualPage first =
        page_of(state.address).rounded_down(state.shares ? pages_per_large : 1);
    const std::uint64_t pages = memory == MemoryKind::device
                                    ? state.pages
                                    : round_up_to_page(state.host.size()) / page_bytes;
    services_.driver.unmap({id_, first, pages}, nobody_unmaps, cycle);
  }
  state.mapped = false;
  return true;
}

bool TenantBuffers::release_all(const HostCycle& cycle) {
  for (std::uint32_t b = 0; b < count(); ++b)
    if (buffers_[b].mapped && !release(BufferId{b}, cycle)) return false;
  return true;
}

bool TenantBuffers::any_mapped() const {
  return std::any_of(buffers_.begin(), buffers_.end(),
                     [](const State& state) { return state.mapped; });
}

bool TenantBuffers::has_gpu_copy(BufferId buffer) const {
  return is_declared(buffer) && declaration(buffer).check &&
         declaration(buffer).memory != MemoryKind::pinned;
}

bool TenantBuffers::is_capturing(BufferId buffer) const {
  return home_->is_capturing_ && has_gpu_copy(buffer) && lies_here(buffer);
}

void TenantBuffers::capture(BufferId buffer, const HostCycle& cycle) {
  // Managed pages are read where they are, on any of the GPUs.
  const Buffer& declared = declaration(buffer);
  State& state = home_->at(buffer);
  State& own = declared.memory == MemoryKind::managed ? at(buffer) : state;
  if (!is_capturing(buffer) || own.is_read) return;
  own.is_read = state.is_captured = true;
  if (declared.memory == MemoryKind::device)
    return capture_device(buffer, 0, declared.bytes(), cycle);
  const ManagedPage first = services_.managed.allocation(own.allocation).first;
  for (const PageRange& range : services_.managed.pages().resident_ranges(own.allocation)) {
    const std::uint64_t offset = (range.first - first) * page_bytes;
    const std::uint64_t size = std::min(range.count * page_bytes, declared.bytes() - offset);
    state.captured.at(offset, size);  // the bytes exist also where zeros are not brought
    cycle.link.start(transfer(Transfer::Kind::inspect, buffer, offset, size), cycle.now,
                     cycle.outbox);
  }
}

std::span<std::byte> TenantBuffers::host_bytes(const Transfer& transfer, std::uint64_t offset,
                                               std::uint64_t bytes) {
  const BufferId buffer{transfer.buffer};
  if (transfer.kind == Transfer::Kind::inspect) return left(buffer).captured.at(offset, bytes);
  if (transfer.kind == Transfer::Kind::to_host) return host(buffer).overwrite(offset, bytes);
  return host(buffer).at(offset, bytes);
}

void TenantBuffers::start_over() {
  if (keeps_first_round_ && first_round_.empty()) first_round_ = std::move(buffers_);
  stop_capturing();
  buffers_ = fresh();
  std::iota(names_.begin(), names_.end(), 0u);
}

void TenantBuffers::serialize(Archive& archive) {
  bool has_first_round = !first_round_.empty();
  archive(names_, small_, is_capturing_, has_first_round);
  for (State& state : buffers_) state.serialize(archive);
  if (!archive.is_saving() && has_first_round) first_round_ = fresh();
  for (State& state : first_round_) state.serialize(archive);
}

}  // namespace lockstep
