#include "models/host_link/host_link.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/outbox.hpp"
#include "core/memory/slots.hpp"
#include "models/noc/store_payload.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

namespace {

std::uint64_t femtoseconds(Time time) {
  return static_cast<std::uint64_t>(time.femtoseconds());
}

}  // namespace

HostLink::HostLink(const HostParameters& parameters, AddressMapping mapping,
                   std::vector<Link> partitions, HostBytes host_bytes,
                   const std::vector<std::uint32_t>& priorities, UplinkPort uplink)
    : parameters_(parameters),
      curve_(parameters),
      mapping_(mapping),
      partitions_(std::move(partitions)),
      host_bytes_(std::move(host_bytes)),
      uplink_(std::move(uplink)),
      directions_{Direction(TenantTurns(parameters.link_order, priorities)),
                  Direction(TenantTurns(parameters.link_order, priorities))} {}

void HostLink::start(Transfer transfer, Time now, Outbox& outbox) {
  LOCKSTEP_CHECK(transfer.bytes > 0 && !transfer.frames.empty(), "an empty transfer");
  const std::uint32_t slot = take_slot(transfers_, free_transfers_);
  Active& active = transfers_[slot];
  active = {};
  active.transfer = std::move(transfer);
  active.transfer.started = active.transfer.began = now;
  if (active.transfer.kind == Transfer::Kind::inspect) {
    return inspect(slot, now, outbox);
  }
  active.duration = curve_.duration(active.transfer.bytes);
  active.time_per_byte = static_cast<double>(active.duration.femtoseconds()) /
                         static_cast<double>(active.transfer.bytes);
  Direction& direction = directions_[active.transfer.kind == Transfer::Kind::to_gpu];
  if (direction.queue.empty()) direction.ready = std::max(direction.ready, now);
  direction.queue.push(active.transfer.rank, active.transfer.tenant, slot);
  direction.waits.enter(active.transfer.tenant, now.femtoseconds());
}

Time HostLink::next_of(const Direction& direction) const {
  if (direction.active != none) {
    if (lines_in_flight() >= parameters_.lines_in_flight) return Time::never();
    return std::max(direction.next, last_answer_);
  }
  if (direction.queue.empty()) return Time::never();
  return std::max(direction.ready, direction.remote_free);
}

Time HostLink::next_activity() const {
  return std::min(next_of(directions_[0]), next_of(directions_[1]));
}

/// Asks each partition for its part of a run of frames.
void HostLink::inspect(std::uint32_t slot, Time now, Outbox& outbox) {
  Active& active = transfers_[slot];
  InspectedRange range;
  range.offset = active.transfer.offset;
  range.transfer = slot;
  std::uint64_t left = active.transfer.bytes;
  for (const FrameRun& run : active.transfer.frames) {
    range.base = run.physical;
    range.bytes = std::min(run.bytes, left);
    for (const std::uint32_t partition : partitions_of(range)) {
      outbox.send(partitions_[partition], now, kind_of(MessageKind::inspect_range), range);
      ++active.asked;
      ++inspected_;
    }
    range.offset += range.bytes;
    left -= range.bytes;
  }
}

std::vector<std::uint32_t> HostLink::partitions_of(const InspectedRange& range) const {
  std::vector<bool> holds(partitions_.size());
  const std::uint64_t chunk = mapping_.chunk_bytes(), end = range.base + range.bytes;
  std::size_t count = 0;
  for (std::uint64_t at = range.base; at < end && count < holds.size();
       at = (at / chunk + 1) * chunk) {
    const std::uint32_t partition = mapping_.partition(PhysicalAddress{at}).value();
    count += holds[partition] ? 0 : 1;
    holds[partition] = true;
  }
  std::vector<std::uint32_t> all;
  for (std::uint32_t p = 0; p < holds.size(); ++p)
    if (holds[p]) all.push_back(p);
  return all;
}

void HostLink::take_inspected(const MessageHeader& message) {
  const auto& range = message.body<InspectedRange>();
  Active& active = transfers_[range.transfer];
  for (std::size_t at = 0; at < message.payload_bytes; at += sizeof(InspectedLine)) {
    InspectedLine line;
    std::memcpy(&line, message.payload_data() + at, sizeof line);
    const std::uint64_t begin = std::max(line.line, range.base);
    const std::uint64_t end = std::min(line.line + line_bytes, range.base + range.bytes);
    std::memcpy(
        host_bytes_(active.transfer, range.offset + (begin - range.base), end - begin).data(),
        line.bytes.data() + (begin - line.line), end - begin);
  }
  if (range.last == 0) return;
  --inspected_;
  if (--active.asked == 0) free_transfers_.push_back(range.transfer);
}

void HostLink::act(Time now, Outbox& outbox) {
  for (Direction& direction : directions_) {
    if (next_of(direction) > now) continue;
    if (direction.active == none) {
      begin(direction, now);
    } else {
      advance(direction, now, outbox);
    }
  }
}

/// A transfer that has begun is not split for one that somebody waits for.
/// Source: virtual-memory-and-exceptions.md, section 18 ("report the maximum wait").
void HostLink::count_wait(const Transfer& transfer, LinkStatistics& statistics) {
  const std::uint64_t waited = femtoseconds(transfer.queue_time());
  statistics.queue_time[transfer.tenant][static_cast<std::size_t>(transfer.rank)] += waited;
  Gauge& longest = statistics.longest_fault_wait[transfer.tenant];
  if (transfer.rank == Transfer::Class::fault && waited > longest.value()) longest = waited;
}

std::uint64_t HostLink::piece_bytes(const Transfer& transfer) const {
  switch (transfer.rank) {
    case Transfer::Class::fault:
      break;
    case Transfer::Class::prefetch:
      if (parameters_.link_preempts_prefetch) return page_bytes;
      break;
    case Transfer::Class::copy:
      return copy_piece_bytes;
  }
  return transfer.bytes;
}

void HostLink::begin(Direction& direction, Time now) {
  const LinkQueue::Entry entry = direction.queue.pop();
  direction.active = entry.transfer;
  direction.arrival = entry.arrival;
  Active& active = transfers_[direction.active];
  Transfer& transfer = active.transfer;
  if (active.sent == 0) {
    transfer.began = now;
    count_wait(transfer, direction.statistics);
    direction.waits.take(transfer.tenant, now.femtoseconds(), Time::never().femtoseconds(),
                         direction.statistics.wait_behind);
  } else {
    direction.waits.hold(transfer.tenant, now.femtoseconds(), Time::never().femtoseconds(),
                         direction.statistics.wait_behind);
  }
  direction.piece_end = std::min(transfer.bytes, active.sent + piece_bytes(transfer));
  direction.origin = now - active.through(active.sent);
  book_line(direction, now);
}

void HostLink::book_line(Direction& direction, Time now) {
  const Active& active = transfers_[direction.active];
  const std::uint64_t bytes = active.next_bytes();
  direction.next = direction.origin + active.through(active.sent + bytes);
  if (!uplink_) return;
  const bool to_gpu = active.transfer.kind == Transfer::Kind::to_gpu;
  const Time through = uplink_.take(to_gpu, now, bytes, active.transfer.tenant);
  if (through <= direction.next) return;
  direction.origin += through - direction.next;
  direction.next = through;
}

void HostLink::advance(Direction& direction, Time now, Outbox& outbox) {
  const std::uint32_t slot = direction.active;
  const std::uint64_t bytes = send_line(slot, now, outbox);
  const Active& active = transfers_[slot];
  const Transfer& transfer = active.transfer;
  const auto rank = static_cast<std::size_t>(transfer.rank);
  LinkStatistics& statistics = direction.statistics;
  statistics.bytes[transfer.tenant][rank] += bytes;
  statistics.busy_time[transfer.tenant][rank] +=
      femtoseconds(active.through(active.sent) - active.through(active.sent - bytes));
  direction.origin += now - direction.next;  // it had to wait for a place among those in flight
  if (active.sent < direction.piece_end) return book_line(direction, now);
  direction.active = none;
  direction.ready = now;
  direction.waits.hold(transfer.tenant, now.femtoseconds(), now.femtoseconds(),
                       direction.statistics.wait_behind);
  if (active.sent < transfer.bytes) {
    direction.queue.put_back(transfer.rank, transfer.tenant, {direction.arrival, slot});
  } else {
    ++statistics.transfers[transfer.tenant][rank];
    statistics.sizes[transfer.tenant].add(transfer.bytes / 1024);
  }
}

std::uint64_t HostLink::Active::next_bytes() const {
  const FrameRun& run = transfer.frames[frame];
  const std::uint64_t begin = (run.physical + in_frame) % line_bytes;
  return std::min({line_bytes - begin, run.bytes - in_frame, transfer.bytes - sent});
}

std::uint64_t HostLink::send_line(std::uint32_t slot, Time now, Outbox& outbox) {
  Active& active = transfers_[slot];
  const Transfer& transfer = active.transfer;
  const std::uint64_t address = transfer.frames[active.frame].physical + active.in_frame;
  const std::uint64_t begin = address % line_bytes;
  const std::uint64_t bytes = active.next_bytes();
  const std::uint64_t offset = transfer.offset + active.sent;
  const std::uint32_t line = take_slot(lines_, free_lines_);
  lines_[line] = {offset, slot, static_cast<std::uint16_t>(bytes),
                  static_cast<std::uint16_t>(begin % sector_bytes)};
  active.sent += bytes;
  active.in_frame += bytes;
  if (active.in_frame == transfer.frames[active.frame].bytes) {
    ++active.frame;
    active.in_frame = 0;
  }

  MemoryRequest request;
  request.line = address - begin;
  request.tag = RequestOwner{RequestPart::transfer, line}.bits();
  request.source = SourceKind::host;
  request.tenant = transfer.tenant;
  request.sectors = sectors_of(begin, begin + bytes);
  request.flags = flag_dma;
  Link& link = partitions_[mapping_.partition(PhysicalAddress{request.line}).value()];
  constexpr std::uint16_t kind = kind_of(MessageKind::memory_request);
  if (transfer.kind != Transfer::Kind::to_gpu) {
    request.operation = MemoryOperation::load;
    outbox.send(link, now, kind, request);
    return bytes;
  }
  request.operation = MemoryOperation::store;
  std::byte* place = outbox.reserve(
      link, now, kind, request, request.sector_count() * (sizeof(std::uint32_t) + sector_bytes));
  fill_store(place, begin, begin + bytes, host_bytes_(transfer, offset, bytes).data());
  return bytes;
}

std::optional<Transfer> HostLink::take(const MessageHeader& message) {
  const auto& response = message.body<MemoryResponse>();
  const std::uint32_t number = RequestOwner::of(response.tag).number;
  const Line line = lines_[number];
  free_lines_.push_back(number);
  Active& active = transfers_[line.transfer];
  last_answer_ = message.arrival;
  if (active.transfer.kind != Transfer::Kind::to_gpu) {
    std::memcpy(host_bytes_(active.transfer, line.offset, line.bytes).data(),
                message.payload_data() + line.skip, line.bytes);
  }
  active.acknowledged += line.bytes;
  if (active.acknowledged < active.transfer.bytes) return std::nullopt;
  active.transfer.done = message.arrival;
  free_transfers_.push_back(line.transfer);
  return std::move(active.transfer);
}

Time HostLink::occupy(bool to_gpu, Time now, std::uint64_t bytes, TenantId tenant) {
  Direction& direction = directions_[to_gpu];
  const Time taken{static_cast<std::int64_t>(static_cast<double>(bytes) * 1e15 /
                                             parameters_.link_bandwidth.bytes_per_second())};
  const Time begin = std::max(direction.remote_free, now);
  direction.remote_free = begin + taken;
  if (uplink_)
    direction.remote_free =
        std::max(direction.remote_free, uplink_.take(to_gpu, now, bytes, tenant.value()));
  if (direction.active != none) {
    direction.origin += taken;
    direction.next += taken;
  }
  if (bytes > 0) {
    constexpr std::size_t remote = LinkStatistics::remote;
    direction.statistics.bytes[tenant.value()][remote] += bytes;
    ++direction.statistics.transfers[tenant.value()][remote];
    direction.statistics.busy_time[tenant.value()][remote] += femtoseconds(taken);
    direction.statistics.queue_time[tenant.value()][remote] += femtoseconds(begin - now);
    direction.statistics.wait_behind.at(tenant.value(), direction.last_remote) +=
        femtoseconds(begin - now);
    direction.last_remote = tenant.value();
  }
  return direction.remote_free;
}

void HostLink::send_request(const MemoryRequest& request, std::span<const std::byte> payload,
                            Time now, Outbox& outbox) {
  outbox.send(partitions_[mapping_.partition(PhysicalAddress{request.line}).value()], now,
              kind_of(MessageKind::memory_request), request, payload);
}

void HostLink::send_range(PartitionId partition, Time now, MessageKind kind, const ZeroRange& range,
                          Outbox& outbox) {
  outbox.send(partitions_[partition.value()], now, kind_of(kind), range);
}

void HostLink::send_copy(const PageCopy& copy, Time now, Outbox& outbox) {
  outbox.send(partitions_[mapping_.partition(PhysicalAddress{copy.from}).value()], now,
              kind_of(MessageKind::copy_page), copy);
}

void HostLink::send_mark(MessageKind kind, const GridMark& mark, Time now, Outbox& outbox) {
  for (Link& link : partitions_) outbox.send(link, now, kind_of(kind), mark);
}

std::uint64_t HostLink::bytes_of(std::uint16_t tenant, bool to_gpu) const {
  std::uint64_t bytes = 0;
  for (const Counter& of_class : directions_[to_gpu].statistics.bytes[tenant])
    bytes += of_class.value();
  return bytes;
}

bool HostLink::uses(const FrameRun& frames) const {
  const auto touches = [&](const FrameRun& run) {
    return run.physical < frames.physical + frames.bytes &&
           frames.physical < run.physical + run.bytes;
  };
  return std::any_of(transfers_.begin(), transfers_.end(), [&](const Active& active) {
    // Inspections have read already, as far as anybody who comes later is concerned.
    if (active.transfer.kind == Transfer::Kind::inspect) return false;
    const std::vector<FrameRun>& used = active.transfer.frames;
    return std::any_of(used.begin(), used.end(), touches);
  });
}

bool HostLink::idle() const {
  return lines_in_flight() == 0 && !inspects() && next_activity() == Time::never();
}

}  // namespace lockstep
