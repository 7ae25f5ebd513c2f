#include "models/host/tenant_streams.hpp"

#include <algorithm>
#include <iterator>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/fabric/port_messages.hpp"
#include "models/workload/recorded_program.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {

bool TenantStreams::advance(const HostCycle& cycle) {
  bool moved = false;
  for (auto& [number, queue] : queues_) {
    Operation& head = queue.front();
    const bool waits =
        head.started || (head.kind == Operation::Kind::copy &&
                         buffers_.is_rearranged(head.buffer, head.offset, head.bytes));
    if (!waits) {
      start(head, cycle);
      moved = true;
    }
    moved |= start_dependent(queue, cycle);
  }
  return moved;
}

bool TenantStreams::start_dependent(std::deque<Operation>& stream, const HostCycle& cycle) {
  if (stream.size() < 2) return false;
  const Operation& head = stream[0];
  Operation& next = stream[1];
  if (!next.is_programmatic || next.started || !head.started ||
      head.kind != Operation::Kind::launch)
    return false;
  next.launch.primary = head.launch.grid + 1;
  start(next, cycle);
  return true;
}

void TenantStreams::start(Operation& operation, const HostCycle& cycle) {
  if (operation.to_gpu && operation.data)  // checked first: the copy may fail
    workload_.recording->read(
        *operation.data, 0, buffers_.host(operation.buffer).at(operation.offset, operation.bytes));
  operation.started = true;
  const std::uint64_t first = operation.offset / page_bytes;
  const std::uint64_t last = (operation.offset + operation.bytes - 1) / page_bytes;
  switch (operation.kind) {
    case Operation::Kind::copy: {
      const auto kind = operation.to_gpu ? Transfer::Kind::to_gpu : Transfer::Kind::to_host;
      Transfer transfer =
          buffers_.transfer(kind, operation.buffer, operation.offset, operation.bytes);
      transfer.owner = {TransferPart::program, operation.id};
      return cycle.link.start(std::move(transfer), cycle.now, cycle.outbox);
    }
    case Operation::Kind::migrate:
      return services_.managed.prefetch(buffers_.allocation(operation.buffer), first,
                                        last - first + 1, operation.to_gpu, operation.id, cycle);
    case Operation::Kind::launch:
      return send_launch(operation, cycle);
    case Operation::Kind::peer_copy:
      return send_peer_copy(operation, cycle);
  }
}

void TenantStreams::send_peer_copy(const Operation& operation, const HostCycle& cycle) const {
  const TenantBuffers& there = *team_[buffers_.member_of(operation.other)];
  constexpr auto kind = Transfer::Kind::to_host;
  std::vector<FrameRun> runs =
      buffers_.transfer(kind, operation.buffer, operation.offset, operation.bytes).frames;
  PeerCopy copy;
  copy.id = operation.id;
  copy.bytes = operation.bytes;
  copy.from_runs = static_cast<std::uint32_t>(runs.size());
  copy.tenant = tenant_.value();
  copy.gpu = static_cast<std::uint16_t>(there.gpu());
  const std::vector<FrameRun> to =
      there.transfer(kind, operation.other, operation.other_offset, operation.bytes).frames;
  runs.insert(runs.end(), to.begin(), to.end());
  cycle.outbox.send(services_.to_port.front(), cycle.now, kind_of(MessageKind::peer_copy), copy,
                    std::as_bytes(std::span(runs)));
}

void TenantStreams::send_launch(Operation& operation, const HostCycle& cycle) {
  std::vector<std::byte> payload = operation.parameters;
  payload.resize(round_up(payload.size(), 8));
  for (const BufferId variable : buffers_.variables()) {
    const std::uint64_t address = buffers_.address(variable).value();
    const auto* first = reinterpret_cast<const std::byte*>(&address);
    payload.insert(payload.end(), first, first + sizeof address);
  }
  GridLaunch& launch = operation.launch;
  launch.globals = static_cast<std::uint16_t>(buffers_.variables().size());
  if (services_.sends_bounds) {
    const std::vector<BufferBound> bounds = buffers_.bounds();
    const auto bytes = std::as_bytes(std::span(bounds));
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    launch.bounds = static_cast<std::uint32_t>(bounds.size());
  }
  cycle.outbox.send(services_.to_dispatcher, cycle.now, kind_of(MessageKind::launch_grid), launch,
                    payload);
  services_.grid_begins({launch.grid, tenant_.value()}, cycle);
  services_.kernels[launch.grid].launched = cycle.now;
  ++cycle.statistics.launches[tenant_.value()];
}

void TenantStreams::operation_done(std::uint64_t operation) {
  for (auto stream = queues_.begin(); stream != queues_.end(); ++stream) {
    const Operation& head = stream->second.front();
    if (head.id != operation) continue;
    if (compares_ && head.data && !head.to_gpu) compare(head);
    return pop(stream);
  }
}

void TenantStreams::grid_done(GridId grid, const HostCycle& cycle) {
  for (auto stream = queues_.begin(); stream != queues_.end(); ++stream) {
    const Operation& head = stream->second.front();
    if (head.kind != Operation::Kind::launch || !head.started || head.launch.grid != grid.value())
      continue;
    KernelRecord& record = services_.kernels[grid.value()];
    record.done = cycle.now;
    record.is_over = true;
    services_.grid_ends({grid.value(), tenant_.value()}, cycle);
    if (stream->second.size() > 1) stream->second[1].launch.queued = 1;
    return pop(stream);
  }
  LOCKSTEP_CHECK(false, "grid " + std::to_string(grid.value()) + " is done but was not launched");
}

void TenantStreams::compare(const Operation& operation) {
  if (!workload_.buffers[operation.buffer.value()].check) return;
  const std::uint64_t number = compared_++;
  if (unexpected_) return;
  const auto got = buffers_.host(operation.buffer).at(operation.offset, operation.bytes);
  unexpected_ = find_unexpected(workload_, static_cast<std::uint32_t>(operation.buffer.value()),
                                operation.offset, *operation.data, got);
  if (unexpected_) unexpected_ = "copy " + std::to_string(number) + " to the host: " + *unexpected_;
}

void TenantStreams::pop(Queues::iterator stream) {
  stream->second.pop_front();
  if (stream->second.empty()) queues_.erase(stream);
}

void TenantStreams::cut_off() {
  for (auto stream = queues_.begin(); stream != queues_.end();) {
    auto& queue = stream->second;
    for (const Operation& operation : queue) {
      if (operation.kind == Operation::Kind::launch && !operation.started)
        services_.kernels[operation.launch.grid].is_over = true;
    }
    std::erase_if(queue, [](const Operation& operation) { return !operation.started; });
    stream = queue.empty() ? queues_.erase(stream) : std::next(stream);
  }
}

bool TenantStreams::moves_data() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& stream) {
    const Operation& head = stream.second.front();
    return head.started && head.kind != Operation::Kind::launch;
  });
}

std::string TenantStreams::waiting_for() const {
  std::string text;
  for (const auto& [number, queue] : queues_) {
    const Operation& head = queue.front();
    text += "; stream " + std::to_string(number) + " waits for ";
    text += head.kind == Operation::Kind::launch
                ? "grid " + std::to_string(head.launch.grid)
                : "a transfer of " + std::to_string(head.buffer.value());
  }
  return text;
}

void TenantStreams::Operation::serialize(Archive& archive) {
  archive(kind, started, to_gpu, is_programmatic, id, buffer, offset, bytes, other, other_offset,
          launch, parameters, data);
}

void TenantStreams::serialize(Archive& archive) {
  archive(queues_, compared_, unexpected_);
}

}  // namespace lockstep
