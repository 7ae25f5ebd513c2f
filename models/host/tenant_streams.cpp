/// A tenant's streams: the head of each queue is under way until the link, the driver or the
/// dispatcher says that it is done (see tenant_run.hpp).
///
/// Source: architecture.md, section 8, "The host".
#include "core/engine/outbox.hpp"
#include "core/memory/round_up.hpp"
#include "models/host/tenant_run.hpp"

namespace lockstep {

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

void TenantRun::send_launch(Operation& operation, Time now, HostShared& shared, Outbox& outbox) {
  const std::size_t declared = tenant_.workload.buffers.size();
  std::vector<std::byte> payload = operation.parameters;
  payload.resize(round_up(payload.size(), 8));
  for (std::size_t g = declared; g < buffers_.size(); ++g) {
    const auto* first = reinterpret_cast<const std::byte*>(&buffers_[g].address);
    payload.insert(payload.end(), first, first + sizeof(std::uint64_t));
  }
  GridLaunch& launch = operation.launch;
  launch.globals = static_cast<std::uint32_t>(module_.globals.size());
  outbox.send(shared.to_dispatcher, now, kind_of(MessageKind::launch_grid), launch, payload);
  shared.kernels[launch.grid].launched = now;
  ++shared.statistics.launches[index_];
}

void TenantRun::transfer_done(const Transfer& transfer) {
  if (transfer.operation != 0) operation_done(transfer.operation);
}

void TenantRun::operation_done(std::uint64_t operation) {
  if (waiting_operation_ == operation) waiting_operation_ = 0;
  for (auto stream = streams_.begin(); stream != streams_.end(); ++stream) {
    if (stream->second.front().id == operation) return pop(stream);
  }
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

void TenantRun::pop(Streams::iterator stream) {
  stream->second.pop_front();
  if (stream->second.empty()) streams_.erase(stream);
}

}  // namespace lockstep
