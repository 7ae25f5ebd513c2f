/// Copies to other GPUs (see port.hpp).
#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "core/memory/slots.hpp"
#include "models/fabric/port.hpp"
#include "models/noc/store_payload.hpp"

namespace lockstep {

void Port::begin_copy(const MessageHeader& message) {
  const auto& asked = message.body<PeerCopy>();
  const std::uint32_t index = take_slot(copies_, free_copies_);
  Copy& copy = copies_[index];
  copy = {};
  copy.asked = asked;
  copy.peer = peer_of(asked.gpu);
  std::vector<FrameRun> runs(message.payload_bytes / sizeof(FrameRun));
  std::memcpy(runs.data(), message.payload_data(), message.payload_bytes);
  const auto middle = runs.begin() + asked.from_runs;
  copy.from.assign(runs.begin(), middle);
  copy.to.assign(middle, runs.end());
  Engine& engine = engines_[has_way_in_ ? 0 : copy.peer];
  engine.next = std::max(engine.next, message.arrival);
  engine.copies.push_back(index);
}

namespace {

/// Advances in a list of runs.
void pass(const std::vector<FrameRun>& runs, std::uint32_t& run, std::uint64_t& at,
          std::uint64_t bytes) {
  at += bytes;
  if (at < runs[run].bytes) return;
  ++run;
  at = 0;
}

}  // namespace

void Port::read_line(Engine& engine, Time now, Outbox& outbox) {
  const std::uint32_t index = engine.copies.front();
  engine.copies.pop_front();
  Copy& copy = copies_[index];
  const FrameRun &from = copy.from[copy.from_run], &to = copy.to[copy.to_run];
  const std::uint64_t source = from.physical + copy.from_at, target = to.physical + copy.to_at;
  const std::uint64_t bytes =
      std::min({line_bytes - source % line_bytes, line_bytes - target % line_bytes,
                from.bytes - copy.from_at, to.bytes - copy.to_at, copy.asked.bytes - copy.sent});
  pass(copy.from, copy.from_run, copy.from_at, bytes);
  pass(copy.to, copy.to_run, copy.to_at, bytes);
  copy.sent += bytes;
  ++lines_;
  const std::uint64_t begin = source % line_bytes;
  const std::uint32_t tag = take_slot(slots_, free_slots_);
  slots_[tag] = {Slot::Kind::reading,
                 static_cast<std::uint8_t>(bytes),
                 static_cast<std::uint8_t>(begin % sector_bytes),
                 static_cast<std::uint16_t>(copy.peer),
                 copy.asked.tenant,
                 index,
                 target};
  MemoryRequest request;
  request.line = source - begin;
  request.tag = tag;
  request.source = SourceKind::peer;
  request.tenant = copy.asked.tenant;
  request.sectors = sectors_of(begin, begin + bytes);
  request.flags = flag_dma;
  const PartitionId partition = mapping_.partition(PhysicalAddress{request.line});
  outbox.send(to_partitions_[partition.value()], now, kind_of(MessageKind::memory_request),
              request);
  const Wire& wire = out_[has_way_in_ ? 0 : copy.peer];
  engine.next = now + wire.duration(line_bytes_of(bytes));
  if (copy.sent < copy.asked.bytes) engine.copies.push_back(index);
}

void Port::write_line(std::uint32_t tag, std::span<const std::byte> payload, Time now,
                      Outbox& outbox) {
  Slot& slot = slots_[tag];
  slot.kind = Slot::Kind::writing;
  const std::uint64_t begin = slot.address % line_bytes;
  MemoryRequest request;
  request.operation = MemoryOperation::store;
  request.line = slot.address - begin;
  request.tag = tag;
  request.source = SourceKind::peer;
  request.requester = static_cast<std::uint16_t>(gpu_);
  request.tenant = static_cast<std::uint16_t>(tenants_[slot.tenant]);
  request.sectors = sectors_of(begin, begin + slot.bytes);
  request.flags = flag_dma;
  const std::size_t stored = request.sector_count() * (sizeof(std::uint32_t) + sector_bytes);
  const Time departure = leave(slot.origin, bytes_of(request, stored), slot.tenant, now);
  std::byte* place = outbox.reserve(peers_[slot.origin].link, departure,
                                    kind_of(MessageKind::memory_request), request, stored);
  fill_store(place, begin, begin + slot.bytes, payload.data() + slot.skip);
}

void Port::line_written(const Slot& slot, Time now, Outbox& outbox) {
  if (!reads())
    for (Engine& engine : engines_) engine.next = std::max(engine.next, now);
  --lines_;
  Copy& copy = copies_[slot.tag];
  copy.done += slot.bytes;
  PortStatistics::OfTenant& counts = statistics_.tenant[slot.tenant];
  counts.copied_bytes += slot.bytes;
  if (copy.done < copy.asked.bytes) return;
  ++counts.copies;
  outbox.send(to_host_, now, kind_of(MessageKind::peer_copied), copy.asked);
  free_copies_.push_back(slot.tag);
}

}  // namespace lockstep
