#include "models/host/tenant_run.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/host/element.hpp"
#include "models/host/kernel_arguments.hpp"
#include "models/isa/load.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t maximum_size = std::int64_t{1} << 40;

}  // namespace

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
    streams_[0].push_back(std::move(upload));
    waiting_operation_ = upload.id;
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

bool TenantRun::start(Operation& operation, Time now, HostShared& shared, Outbox& outbox) {
  switch (operation.kind) {
    case Operation::Kind::copy:
      start_transfer(operation.to_gpu ? Transfer::Kind::to_gpu : Transfer::Kind::to_host,
                     operation.buffer, operation.offset, operation.bytes, operation.id, now, shared,
                     outbox);
      return operation.started = true;
    case Operation::Kind::migrate: {
      const Place place = buffers_[operation.buffer].place;
      if (place == Place::moving) return false;
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
  if (kind == Transfer::Kind::inspect) return;
  ++shared.statistics.transfers[index_];
  (kind == Transfer::Kind::to_gpu ? shared.statistics.bytes_to_gpu
                                  : shared.statistics.bytes_to_host)[index_] += bytes;
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
  if (step->kind == Step::Kind::repeat_until) {
    cursor_.answer(test(*step));
  } else {
    cursor_.advance();
  }
  return true;
}

bool TenantRun::do_step(const Step& step, Time now, HostShared& shared, Outbox& outbox) {
  const std::uint32_t buffer = names_[step.buffer];
  switch (step.kind) {
    case Step::Kind::copy:
      return do_copy(step, shared);
    case Step::Kind::launch:
      do_launch(step, now, shared);
      return true;
    case Step::Kind::synchronize:
      return step.has_stream ? !streams_.contains(step.stream) : streams_idle();
    case Step::Kind::prefetch: {
      require_mapped(buffer, step.where);
      Operation operation;
      operation.kind = Operation::Kind::migrate;
      operation.to_gpu = step.to_gpu;
      operation.id = shared.next_operation++;
      operation.buffer = buffer;
      streams_[step.stream].push_back(std::move(operation));
      return true;
    }
    case Step::Kind::read:
    case Step::Kind::write:
    case Step::Kind::repeat_until:
      return touch(buffer, step, now, shared, outbox);
    case Step::Kind::fill:
      if (!touch(buffer, step, now, shared, outbox)) return false;
      do_fill(step);
      return true;
    case Step::Kind::save: {
      if (!touch(buffer, step, now, shared, outbox)) return false;
      const auto bytes = buffers_[buffer].host.at(0, declaration(buffer).bytes());
      std::erase_if(saved_, [&](const Saved& s) { return s.buffer == step.buffer; });
      saved_.push_back({step.buffer, {bytes.begin(), bytes.end()}});
      return true;
    }
    case Step::Kind::delay:
      pause(step.duration, now);
      return true;
    case Step::Kind::free:
      require_mapped(buffer, step.where);
      return release(buffer, now, shared, outbox);
    case Step::Kind::swap:
      std::swap(names_[step.buffer], names_[step.other]);
      return true;
    case Step::Kind::repeat_times:
      break;
  }
  LOCKSTEP_CHECK(false, "a loop is no step of its own");
}

bool TenantRun::do_copy(const Step& step, HostShared& shared) {
  const std::uint32_t buffer = names_[step.buffer];
  require_mapped(buffer, step.where);
  const Buffer& declared = declaration(buffer);
  const auto count = static_cast<std::int64_t>(declared.count);
  const std::int64_t offset =
      step.offset.given() ? step.offset.evaluate_integer(cursor_.variables(), 0, count) : 0;
  const std::int64_t elements =
      step.count.given() ? step.count.evaluate_integer(cursor_.variables(), 0, count - offset)
                         : count - offset;
  if (elements == 0) return true;
  Operation operation;
  operation.kind = Operation::Kind::copy;
  operation.to_gpu = step.to_gpu;
  operation.id = shared.next_operation++;
  operation.buffer = buffer;
  operation.offset = static_cast<std::uint64_t>(offset) * isa::bytes_of(declared.type);
  operation.bytes = static_cast<std::uint64_t>(elements) * isa::bytes_of(declared.type);
  if (!step.has_stream) waiting_operation_ = operation.id;
  streams_[step.stream].push_back(std::move(operation));
  return true;
}

void TenantRun::do_launch(const Step& step, Time now, HostShared& shared) {
  const std::uint32_t kernel = find_kernel(step, module_);
  const isa::Program& program = module_.kernels[kernel].reference;
  const Variables& variables = cursor_.variables();
  Operation operation;
  operation.id = shared.next_operation++;
  GridLaunch& launch = operation.launch;
  launch.grid = shared.next_grid++;
  launch.tenant = index_;
  launch.module = module_index_;
  launch.kernel = static_cast<std::uint16_t>(kernel);
  launch.stream = static_cast<std::uint16_t>(step.stream);
  launch.priority = tenant_.priority;
  const LaunchShape shape = launch_shape(program, step, variables);
  launch.blocks = shape.blocks;
  launch.threads = shape.threads;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  std::vector<std::uint64_t> addresses;
  for (const std::uint32_t meaning : names_) {
    addresses.push_back(buffers_[meaning].extent.virtual_base);
  }
  operation.parameters = pack_arguments(program, step, variables, addresses);
  launch.parameter_bytes = static_cast<std::uint32_t>(operation.parameters.size());
  for (const Step::Argument& argument : step.arguments) {
    if (!argument.is_buffer) continue;
    const std::uint32_t buffer = names_[argument.buffer];
    require_mapped(buffer, step.where);
    if (declaration(buffer).memory == MemoryKind::managed) operation.managed.push_back(buffer);
  }
  shared.kernels.push_back({step.kernel, launch.grid, index_, step.stream, launch.blocks,
                            launch.threads, now, Time::never(), Time::never()});
  streams_[step.stream].push_back(std::move(operation));
  pause(shared.launch_overhead, now);
}

void TenantRun::do_fill(const Step& step) {
  const std::uint32_t buffer = names_[step.buffer];
  const Buffer& declared = declaration(buffer);
  const double value = step.value.evaluate(cursor_.variables());
  const std::size_t width = isa::bytes_of(declared.type);
  const std::span<std::byte> bytes = buffers_[buffer].host.at(0, declared.bytes());
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    store_element(declared.type, value, bytes.data() + at);
  }
}

bool TenantRun::test(const Step& step) {
  const std::uint32_t buffer = names_[step.buffer];
  const Buffer& declared = declaration(buffer);
  const std::int64_t index = step.index.evaluate_integer(
      cursor_.variables(), 0, static_cast<std::int64_t>(declared.count) - 1);
  const std::size_t width = isa::bytes_of(declared.type);
  const auto bytes = buffers_[buffer].host.at(static_cast<std::uint64_t>(index) * width, width);
  return load_element(declared.type, bytes.data()) == step.equals.evaluate(cursor_.variables());
}

bool TenantRun::touch(std::uint32_t buffer, const Step& step, Time now, HostShared& shared,
                      Outbox& outbox) {
  require_mapped(buffer, step.where);
  if (declaration(buffer).memory != MemoryKind::managed) return true;
  if (!streams_idle()) return false;
  if (buffers_[buffer].place == Place::gpu) move(buffer, false, now, shared, outbox);
  return buffers_[buffer].place == Place::host;
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

void TenantRun::require_mapped(std::uint32_t buffer, const std::string& where) const {
  if (buffers_[buffer].mapped) return;
  throw UserError(
      where,
      "tenant " + tenant_.name + " uses buffer " + declaration(buffer).name + " after it was freed",
      "move the free step behind the last use");
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
  std::uint64_t streams = streams_.size();
  archive(streams);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;
  for (const auto& [number, queue] : streams_) sizes.emplace_back(number, queue.size());
  archive(sizes);
  for (const auto& [number, size] : sizes) {
    std::deque<Operation>& queue = streams_[number];
    queue.resize(size);
    for (Operation& operation : queue) operation.serialize(archive);
  }
  archive(waiting_operation_, waiting_capture_, timer_, end_, saved_);
}

}  // namespace lockstep
