#include "models/host/tenant_run.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/isa/load.hpp"

namespace lockstep {

TenantRun::TenantRun(const Tenant& tenant, std::uint16_t index, std::uint16_t module_index,
                     const isa::Module& module, bool capture)
    : tenant_(tenant),
      index_(index),
      module_index_(module_index),
      module_(module),
      capture_(capture),
      contents_(make_contents(tenant.workload)),
      cursor_(tenant.workload),
      names_(contents_.size()),
      buffers_(fresh_buffers()),
      timer_(tenant.arrival) {
  std::iota(names_.begin(), names_.end(), 0u);
}

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

void TenantRun::run(Time now, HostShared& shared, Outbox& outbox) {
  if (timer_ <= now) timer_ = Time::never();
  if (phase_ == Phase::waiting) {
    if (now < tenant_.arrival || !begin(now, shared, outbox)) return;
  }
  if (phase_ == Phase::mapping) {
    if (!shared.driver.idle(index_)) return;
    phase_ = stopped_ ? Phase::finishing : Phase::running;
    if (!stopped_) upload_variables(shared);
  }
  bool moved = true;
  while (moved && phase_ != Phase::done && phase_ != Phase::waiting) {
    moved = advance_streams(now, shared, outbox);
    if (phase_ == Phase::running) {
      moved |= advance_program(now, shared, outbox);
    } else {
      moved |= finish(now, shared, outbox);
    }
  }
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
  throw UserError(
      declared && largest > 0 ? declaration(culprit).where : tenant_.where,
      "out of GPU memory: tenant " + tenant_.name + " needs " + std::to_string(need) +
          " bytes for device buffers and page tables" +
          (declared && largest > 0 ? ", most of them for buffer " + declaration(culprit).name
                                   : "") +
          "; " + std::to_string(free) + " of " + std::to_string(shared.driver.capacity()) +
          " are free",
      "raise gpu.memory.capacity or use smaller buffers");
}

bool TenantRun::begin(Time now, HostShared& shared, Outbox& outbox) {
  if (!has_room(now, shared, outbox)) return false;
  phase_ = Phase::mapping;
  began_ = now;
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) map_buffer(b, now, shared, outbox);
  return true;
}

void TenantRun::map_buffer(std::uint32_t b, Time now, HostShared& shared, Outbox& outbox) {
  BufferState& state = buffers_[b];
  state.mapped = true;
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

bool TenantRun::advance_streams(Time now, HostShared& shared, Outbox& outbox) {
  bool moved = false;
  for (auto& [number, queue] : streams_) {
    if (queue.front().started) continue;
    start(queue.front(), now, shared, outbox);
    moved = true;
  }
  return moved;
}

void TenantRun::start(Operation& operation, Time now, HostShared& shared, Outbox& outbox) {
  operation.started = true;
  switch (operation.kind) {
    case Operation::Kind::copy:
      return start_transfer(operation.to_gpu ? Transfer::Kind::to_gpu : Transfer::Kind::to_host,
                            operation.buffer, operation.offset, operation.bytes, operation.id, now,
                            shared, outbox);
    case Operation::Kind::migrate:
      return migrate(operation, now, shared, outbox);
    case Operation::Kind::launch:
      return send_launch(operation, now, shared, outbox);
  }
}

void TenantRun::migrate(const Operation& operation, Time now, HostShared& shared, Outbox& outbox) {
  const std::uint64_t first = operation.offset / page_bytes;
  const std::uint64_t last = (operation.offset + operation.bytes - 1) / page_bytes;
  shared.managed.prefetch(buffers_[operation.buffer].allocation, first, last - first + 1,
                          operation.to_gpu, operation.id, shared.context(now, outbox));
}

void TenantRun::start_transfer(Transfer::Kind kind, std::uint32_t buffer, std::uint64_t offset,
                               std::uint64_t bytes, std::uint64_t operation, Time now,
                               HostShared& shared, Outbox& outbox) {
  const std::uint64_t first = (buffers_[buffer].address + offset) / page_bytes;
  const std::uint64_t last = (buffers_[buffer].address + offset + bytes - 1) / page_bytes;
  Transfer transfer;
  transfer.kind = kind;
  transfer.tenant = index_;
  transfer.buffer = buffer;
  transfer.operation = operation;
  transfer.offset = offset;
  transfer.bytes = bytes;
  transfer.frames = shared.driver.frames_of(index_, first, last - first + 1);
  const std::uint64_t before = offset % page_bytes;
  transfer.frames.front().physical += before;
  transfer.frames.front().bytes -= before;
  transfer.frames.back().bytes -= (last - first + 1) * page_bytes - before - bytes;
  shared.link.start(std::move(transfer), now, outbox);
}

void TenantRun::transfer_done(const Transfer& transfer) {
  if (transfer.kind == Transfer::Kind::inspect) {
    --captures_;
  } else if (transfer.operation != 0) {
    operation_done(transfer.operation);
  }
}

void TenantRun::operation_done(std::uint64_t operation) {
  if (waiting_operation_ == operation) waiting_operation_ = 0;
  for (auto stream = streams_.begin(); stream != streams_.end(); ++stream) {
    if (stream->second.front().id == operation) return pop(stream);
  }
}

void TenantRun::pop(Streams::iterator stream) {
  stream->second.pop_front();
  if (stream->second.empty()) streams_.erase(stream);
}

void TenantRun::send_launch(Operation& operation, Time now, HostShared& shared, Outbox& outbox) {
  const std::size_t declared = tenant_.workload.buffers.size();
  std::vector<std::byte> payload = operation.parameters;
  payload.resize((payload.size() + 7) / 8 * 8);
  for (std::size_t g = declared; g < buffers_.size(); ++g) {
    const auto* first = reinterpret_cast<const std::byte*>(&buffers_[g].address);
    payload.insert(payload.end(), first, first + sizeof(std::uint64_t));
  }
  GridLaunch& launch = operation.launch;
  launch.globals = static_cast<std::uint32_t>(module_.globals.size());
  outbox.send(shared.to_dispatcher, now, static_cast<std::uint16_t>(MessageKind::launch_grid),
              launch, payload);
  shared.kernels[launch.grid].launched = now;
  ++shared.statistics.launches[index_];
}

void TenantRun::grid_done(const GridDone& done, Time now, HostShared& shared) {
  executed_ += done.executed;
  for (auto stream = streams_.begin(); stream != streams_.end(); ++stream) {
    const Operation& head = stream->second.front();
    if (head.kind != Operation::Kind::launch || !head.started || head.launch.grid != done.grid)
      continue;
    shared.kernels[done.grid].done = now;
    return pop(stream);
  }
  LOCKSTEP_CHECK(false, "grid " + std::to_string(done.grid) + " is done but was not launched");
}

void TenantRun::instructions_reached(const InstructionCount& executed, Time now,
                                     HostShared& shared) {
  take_measure(executed, now, shared);
}

void TenantRun::take_measure(const InstructionCount& executed, Time now, const HostShared& shared) {
  if (is_settled()) return;
  measure_ = {executed, shared.statistics.far_faults[index_].value()};
  end_ = now;
}

void TenantRun::count_step(const Step& step, Time now) {
  constexpr std::uint64_t most_steps = 100'000;
  if (now != stood_at_) steps_here_ = 0;
  stood_at_ = now;
  if (++steps_here_ <= most_steps) return;
  throw UserError(step.where, "tenant " + tenant_.name + " did 100000 steps in no simulated time",
                  "the loop never ends, or needs a launch, a copy or a delay");
}

bool TenantRun::advance_program(Time now, HostShared& shared, Outbox& outbox) {
  if (timer_ != Time::never() || waiting_operation_ != 0) return false;
  const Step* step = cursor_.current();
  if (!step) {
    if (!streams_idle()) return false;
    phase_ = Phase::finishing;
    ++rounds_;
    take_measure(executed_, now, shared);
    return true;
  }
  if (!do_step(*step, now, shared, outbox)) return false;
  count_step(*step, now);
  if (step->kind == Step::Kind::repeat_until) {
    cursor_.answer(test(*step));
  } else {
    cursor_.advance();
  }
  return true;
}

bool TenantRun::capture(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox) {
  BufferState& state = buffers_[buffer];
  const Buffer& declared = declaration(buffer);
  if (captures_ > 0) return false;
  const bool is_wanted = first_ && !failure_ && (rounds_ > 0 || !stopped_);
  if (!capture_ || !is_wanted || !declared.check || declared.memory == MemoryKind::pinned)
    return true;
  if (state.is_captured) return true;
  const auto read = [&](std::uint64_t offset, std::uint64_t bytes) {
    ++captures_;
    start_transfer(Transfer::Kind::inspect, buffer, offset, bytes, 0, now, shared, outbox);
  };
  state.is_captured = true;
  if (declared.memory == MemoryKind::device) {
    state.captured.resize(declared.bytes());
    read(0, declared.bytes());
    return false;
  }
  const auto bytes = state.host.at(0, declared.bytes());
  state.captured.assign(bytes.begin(), bytes.end());
  const ManagedPage first = shared.managed.allocation(state.allocation).first;
  for (const PageRange& range : shared.managed.resident_ranges(state.allocation)) {
    const std::uint64_t offset = (range.first - first) * page_bytes;
    read(offset, std::min(range.count * page_bytes, declared.bytes() - offset));
  }
  return captures_ == 0;
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
    if (!state.is_captured && !shared.managed.settled(state.allocation)) return false;
  }
  if (buffer < tenant_.workload.buffers.size() && !capture(buffer, now, shared, outbox))
    return false;
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

bool TenantRun::finish(Time now, HostShared& shared, Outbox& outbox) {
  if (phase_ == Phase::finishing) {
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
      if (buffers_[b].mapped && !release(b, now, shared, outbox)) return false;
    }
    phase_ = Phase::leaving;
  }
  if (!shared.driver.idle(index_)) return false;
  shared.driver.end_tenant(index_, now, outbox);
  phase_ = Phase::done;
  if (tenant_.relaunch && !stopped_ && !failure_) start_over(now);
  return true;
}

void TenantRun::start_over(Time now) {
  if (now == began_) {
    throw UserError(tenant_.where,
                    "tenant " + tenant_.name +
                        " would start over for ever: its program takes no simulated time",
                    "give it a launch, a copy or a delay, or leave out relaunch");
  }
  if (first_ && capture_) first_round_ = std::move(buffers_);
  first_ = false;
  buffers_ = fresh_buffers();
  std::iota(names_.begin(), names_.end(), 0u);
  cursor_ = ProgramCursor(tenant_.workload);
  phase_ = Phase::waiting;
  timer_ = now;
}

void TenantRun::violation(const std::string& message, Time now, HostShared& shared,
                          Outbox& outbox) {
  if (failure_ || stopped_) return;
  if (!measure_) end_ = now;
  failure_ = message;
  cut_off(now, shared, outbox);
}

void TenantRun::stop(Time now, HostShared& shared, Outbox& outbox) {
  if (stopped_ || failure_ || done()) return;
  stopped_ = true;
  if (phase_ == Phase::waiting) phase_ = Phase::leaving;
  if (phase_ == Phase::running) cut_off(now, shared, outbox);
}

void TenantRun::cut_off(Time now, HostShared& shared, Outbox& outbox) {
  phase_ = Phase::finishing;
  timer_ = Time::never();
  waiting_operation_ = 0;
  // What has not begun never will; kernels under way are stopped, transfers end.
  for (auto stream = streams_.begin(); stream != streams_.end();) {
    auto& queue = stream->second;
    queue.resize(queue.front().started ? 1 : 0);
    stream = queue.empty() ? streams_.erase(stream) : std::next(stream);
  }
  shared.managed.forget_faults(index_);
  outbox.send(shared.to_dispatcher, now, static_cast<std::uint16_t>(MessageKind::abort_tenant),
              TenantNotice{index_, {}});
}

std::span<std::byte> TenantRun::host_bytes(const Transfer& transfer, std::uint64_t offset,
                                           std::uint64_t bytes) {
  BufferState& state = buffers_[transfer.buffer];
  if (transfer.kind == Transfer::Kind::inspect) return {state.captured.data() + offset, bytes};
  return state.host.at(offset, bytes);
}

std::string TenantRun::waiting_for() const {
  if (phase_ == Phase::done) return "";
  std::string text = "tenant " + tenant_.name;
  if (const Step* step = cursor_.current()) text += " at " + step->where;
  for (const auto& [number, queue] : streams_) {
    const Operation& head = queue.front();
    text += "; stream " + std::to_string(number) + " waits for ";
    text += head.kind == Operation::Kind::launch ? "grid " + std::to_string(head.launch.grid)
                                                 : "a transfer of " + std::to_string(head.buffer);
  }
  return text;
}

void TenantRun::BufferState::serialize(Archive& archive) {
  archive(host, address, allocation, mapped, held, is_captured, captured);
}

void TenantRun::Operation::serialize(Archive& archive) {
  archive(kind, started, to_gpu, id, buffer, offset, bytes);
  archive.bytes(&launch, sizeof launch);
  archive(parameters);
}

void TenantRun::serialize(Archive& archive) {
  archive(phase_, cursor_, names_, first_, stopped_, rounds_, began_);
  for (BufferState& state : buffers_) state.serialize(archive);
  if (!archive.is_saving() && !first_ && capture_) first_round_ = fresh_buffers();
  for (BufferState& state : first_round_) state.serialize(archive);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;
  for (const auto& [number, queue] : streams_) sizes.emplace_back(number, queue.size());
  archive(sizes);
  if (!archive.is_saving()) streams_.clear();
  for (const auto& [number, size] : sizes) {
    std::deque<Operation>& queue = streams_[number];
    queue.resize(size);
    for (Operation& operation : queue) operation.serialize(archive);
  }
  archive(waiting_operation_, captures_, timer_, stood_at_, steps_here_, executed_, measure_, end_,
          saved_, failure_);
}

}  // namespace lockstep
