#include "models/host/tenant_run.hpp"

#include <algorithm>
#include <cstring>

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
      cursor_(tenant.workload),
      timer_(tenant.arrival) {
  const auto contents = make_contents(tenant.workload);
  for (std::uint32_t b = 0; b < contents.size(); ++b) {
    names_.push_back(b);
    buffers_.emplace_back().host = HostBuffer(declaration(b).bytes(), contents[b]);
  }
  for (const isa::GlobalVariable& global : module.globals) {
    buffers_.emplace_back().host = HostBuffer(std::max<std::uint64_t>(global.bytes, 1), nullptr);
  }
}

void TenantRun::run(Time now, HostShared& shared, Outbox& outbox) {
  if (timer_ <= now) timer_ = Time::never();
  if (phase_ == Phase::waiting) {
    if (now < tenant_.arrival || !shared.driver.settled()) return;
    begin(shared);
  }
  bool moved = true;
  while (moved && phase_ != Phase::done) {
    moved = advance_streams(now, shared, outbox);
    if (phase_ == Phase::running) {
      moved |= advance_program(now, shared, outbox);
    } else {
      moved |= finish(now, shared, outbox);
    }
  }
}

/// Maps every buffer and the module's variables, and queues the upload of their initial content.
void TenantRun::begin(HostShared& shared) {
  phase_ = Phase::running;
  const std::size_t declared = tenant_.workload.buffers.size();
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    BufferState& state = buffers_[b];
    state.mapped = true;
    if (b < declared && declaration(b).memory == MemoryKind::pinned) {
      state.extent =
          shared.driver.map_host(index_, declaration(b).bytes(), remote_address(index_, b));
    } else {
      const std::string what =
          b < declared ? "buffer " + declaration(b).name : "." + module_.globals[b - declared].name;
      state.extent = shared.driver.map(index_, state.host.size(),
                                       b < declared ? declaration(b).where : tenant_.where, what);
    }
  }
  std::vector<std::uint64_t> addresses;
  for (std::size_t g = declared; g < buffers_.size(); ++g) {
    addresses.push_back(buffers_[g].extent.virtual_base);
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
  for (auto stream = streams_.begin(); stream != streams_.end();) {
    Operation& head = stream->second.front();
    if (!head.started) moved |= start(head, now, shared, outbox);
    const auto next = std::next(stream);
    if (head.nothing_to_do) pop(stream);
    stream = next;
  }
  return moved;
}

bool TenantRun::in_use(std::uint32_t buffer) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& stream) {
    const Operation& head = stream.second.front();
    return head.kind == Operation::Kind::launch && head.started &&
           std::find(head.managed.begin(), head.managed.end(), buffer) != head.managed.end();
  });
}

bool TenantRun::start(Operation& operation, Time now, HostShared& shared, Outbox& outbox) {
  switch (operation.kind) {
    case Operation::Kind::copy:
      start_transfer(operation.to_gpu ? Transfer::Kind::to_gpu : Transfer::Kind::to_host,
                     operation.buffer, operation.offset, operation.bytes, operation.id, now, shared,
                     outbox);
      return operation.started = true;
    case Operation::Kind::migrate: {
      const Place place = buffers_[operation.buffer].place;
      if (place == Place::moving || (!operation.to_gpu && in_use(operation.buffer))) return false;
      operation.started = true;
      if ((place == Place::gpu) == operation.to_gpu) {
        operation.nothing_to_do = true;
      } else {
        buffers_[operation.buffer].place = Place::moving;
        start_transfer(operation.to_gpu ? Transfer::Kind::to_gpu : Transfer::Kind::to_host,
                       operation.buffer, 0, declaration(operation.buffer).bytes(), operation.id,
                       now, shared, outbox);
      }
      return true;
    }
    case Operation::Kind::launch: {
      bool ready = true, moved = false;
      for (const std::uint32_t buffer : operation.managed) {
        if (buffers_[buffer].place == Place::host) {
          move(buffer, true, now, shared, outbox);
          moved = true;
        }
        ready = ready && buffers_[buffer].place == Place::gpu;
      }
      if (!ready) return moved;
      send_launch(operation, now, shared, outbox);
      return operation.started = true;
    }
  }
  return false;
}

void TenantRun::move(std::uint32_t buffer, bool to_gpu, Time now, HostShared& shared,
                     Outbox& outbox) {
  buffers_[buffer].place = Place::moving;
  start_transfer(to_gpu ? Transfer::Kind::to_gpu : Transfer::Kind::to_host, buffer, 0,
                 declaration(buffer).bytes(), 0, now, shared, outbox);
}

void TenantRun::start_transfer(Transfer::Kind kind, std::uint32_t buffer, std::uint64_t offset,
                               std::uint64_t bytes, std::uint64_t operation, Time now,
                               HostShared& shared, Outbox& outbox) {
  Transfer transfer;
  transfer.kind = kind;
  transfer.tenant = index_;
  transfer.buffer = buffer;
  transfer.operation = operation;
  transfer.physical = buffers_[buffer].extent.physical_base + offset;
  transfer.offset = offset;
  transfer.bytes = bytes;
  shared.link.start(transfer, now, outbox);
}

void TenantRun::transfer_done(const Transfer& transfer) {
  if (transfer.kind == Transfer::Kind::inspect) {
    waiting_capture_ = 0;
    return;
  }
  BufferState& state = buffers_[transfer.buffer];
  if (state.place == Place::moving) {
    state.place = transfer.kind == Transfer::Kind::to_gpu ? Place::gpu : Place::host;
  }
  if (transfer.operation != 0) operation_done(transfer.operation);
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
  std::vector<Extent> extents;
  const std::size_t declared = tenant_.workload.buffers.size();
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    const BufferState& state = buffers_[b];
    const bool managed = b < declared && declaration(b).memory == MemoryKind::managed;
    if (state.mapped && (!managed || state.place == Place::gpu)) extents.push_back(state.extent);
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.virtual_base < b.virtual_base; });
  std::vector<std::byte> payload = operation.parameters;
  payload.resize((payload.size() + 7) / 8 * 8);
  const auto append = [&](const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    payload.insert(payload.end(), first, first + bytes);
  };
  append(extents.data(), extents.size() * sizeof(Extent));
  for (std::size_t g = declared; g < buffers_.size(); ++g) {
    append(&buffers_[g].extent.virtual_base, sizeof(std::uint64_t));
  }
  GridLaunch& launch = operation.launch;
  launch.extents = static_cast<std::uint32_t>(extents.size());
  launch.globals = static_cast<std::uint32_t>(module_.globals.size());
  outbox.send(shared.to_dispatcher, now, static_cast<std::uint16_t>(MessageKind::launch_grid),
              launch, payload);
  shared.kernels[launch.grid].launched = now;
  ++shared.statistics.launches[index_];
}

void TenantRun::grid_done(std::uint32_t grid, Time now, HostShared& shared) {
  for (auto stream = streams_.begin(); stream != streams_.end(); ++stream) {
    const Operation& head = stream->second.front();
    if (head.kind != Operation::Kind::launch || !head.started || head.launch.grid != grid) continue;
    shared.kernels[grid].done = now;
    return pop(stream);
  }
  LOCKSTEP_CHECK(false, "grid " + std::to_string(grid) + " is done but was not launched");
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
    end_ = now;
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
  const bool on_gpu = declared.memory == MemoryKind::device || state.place == Place::gpu;
  if (!capture_ || !declared.check || declared.memory == MemoryKind::pinned || !on_gpu) return true;
  if (waiting_capture_ != 0) return false;
  if (!state.captured.empty()) return true;
  state.captured.resize(declared.bytes());
  waiting_capture_ = shared.next_operation++;
  start_transfer(Transfer::Kind::inspect, buffer, 0, declared.bytes(), waiting_capture_, now,
                 shared, outbox);
  return false;
}

bool TenantRun::release(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox) {
  if (!streams_idle() || !capture(buffer, now, shared, outbox)) return false;
  buffers_[buffer].mapped = false;
  shared.driver.unmap(buffers_[buffer].extent, now, shared.link, outbox);
  return true;
}

bool TenantRun::finish(Time now, HostShared& shared, Outbox& outbox) {
  const std::size_t declared = tenant_.workload.buffers.size();
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    if (!buffers_[b].mapped) continue;
    if (b < declared) {
      if (!release(b, now, shared, outbox)) return false;
    } else {
      buffers_[b].mapped = false;
      shared.driver.unmap(buffers_[b].extent, now, shared.link, outbox);
    }
  }
  phase_ = Phase::done;
  return true;
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
  archive(host);
  archive.bytes(&extent, sizeof extent);
  archive(mapped, place, captured);
}

void TenantRun::Operation::serialize(Archive& archive) {
  archive(kind, started, nothing_to_do, to_gpu, id, buffer, offset, bytes);
  archive.bytes(&launch, sizeof launch);
  archive(parameters, managed);
}

void TenantRun::serialize(Archive& archive) {
  archive(phase_, cursor_, names_);
  for (BufferState& state : buffers_) state.serialize(archive);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;
  for (const auto& [number, queue] : streams_) sizes.emplace_back(number, queue.size());
  archive(sizes);
  if (!archive.is_saving()) streams_.clear();
  for (const auto& [number, size] : sizes) {
    std::deque<Operation>& queue = streams_[number];
    queue.resize(size);
    for (Operation& operation : queue) operation.serialize(archive);
  }
  archive(waiting_operation_, waiting_capture_, timer_, stood_at_, steps_here_, end_, saved_);
}

}  // namespace lockstep
