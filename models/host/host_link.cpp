#include "models/host/host_link.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/outbox.hpp"

namespace lockstep {

namespace {

constexpr std::uint32_t chunk_bytes = 4096;

Time time_on_wire(std::uint64_t bytes, Bandwidth bandwidth) {
  return Time{
      static_cast<std::int64_t>(static_cast<double>(bytes) * 1e15 / bandwidth.bytes_per_second())};
}

std::uint64_t femtoseconds(Time time) {
  return static_cast<std::uint64_t>(time.femtoseconds());
}

std::uint32_t take_slot(std::vector<std::uint32_t>& free, std::size_t& size) {
  if (free.empty()) return static_cast<std::uint32_t>(size++);
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

/// Bit i: sector i of the line holds a byte of [begin, end).
std::uint8_t sectors_of(std::uint64_t begin, std::uint64_t end) {
  std::uint8_t sectors = 0;
  for (std::uint64_t s = begin / sector_bytes; s * sector_bytes < end; ++s) sectors |= 1 << s;
  return sectors;
}

}  // namespace

HostLink::HostLink(const HostParameters& parameters, AddressMapping mapping,
                   std::vector<Link> partitions, HostBytes host_bytes, std::size_t tenants)
    : parameters_(parameters),
      mapping_(mapping),
      partitions_(std::move(partitions)),
      host_bytes_(std::move(host_bytes)) {
  for (Direction& direction : directions_) set_tenants(direction.statistics, tenants);
}

void HostLink::start(Transfer transfer, Time now, Outbox& outbox) {
  std::size_t size = transfers_.size();
  const std::uint32_t slot = take_slot(free_transfers_, size);
  transfers_.resize(size);
  transfer.eligible = now + parameters_.transfer_setup;
  transfers_[slot] = transfer;
  if (transfer.kind == Transfer::Kind::inspect) {
    while (transfers_[slot].sent < transfer.bytes) send_line(slot, now, outbox);
  } else {
    directions_[transfer.kind == Transfer::Kind::to_gpu].queue.push_back(slot);
  }
}

Time HostLink::next_of(const Direction& direction) const {
  if (direction.queue.empty() || lines_in_flight() >= parameters_.lines_in_flight) {
    return Time::never();
  }
  Time first = Time::never();
  for (const std::uint32_t slot : direction.queue)
    first = std::min(first, transfers_[slot].eligible);
  return std::max({first, direction.free, last_answer_});
}

Time HostLink::next_activity() const {
  return std::min(next_of(directions_[0]), next_of(directions_[1]));
}

std::size_t HostLink::turn(Direction& direction, Time now) const {
  // The first eligible transfer of each tenant competes; tenants follow each other by number.
  std::size_t best = direction.queue.size();
  std::uint32_t best_distance = ~0u;
  std::vector<bool> seen;
  for (std::size_t i = 0; i < direction.queue.size(); ++i) {
    const Transfer& transfer = transfers_[direction.queue[i]];
    if (transfer.tenant >= seen.size()) seen.resize(transfer.tenant + 1u);
    if (seen[transfer.tenant]) continue;
    seen[transfer.tenant] = true;
    if (transfer.eligible > now) continue;
    const std::uint32_t keep = direction.chunk_left > 0 ? 0 : 1;
    const std::uint32_t distance = (transfer.tenant - direction.last_tenant - keep) & 0xffffu;
    if (distance < best_distance) {
      best_distance = distance;
      best = i;
    }
  }
  return best;
}

void HostLink::act(Time now, Outbox& outbox) {
  for (Direction& direction : directions_) {
    if (next_of(direction) > now) continue;
    const std::size_t position = turn(direction, now);
    if (position == direction.queue.size()) continue;
    const std::uint32_t slot = direction.queue[position];
    const std::uint16_t tenant = transfers_[slot].tenant;
    if (tenant != direction.last_tenant || direction.chunk_left == 0) {
      direction.last_tenant = tenant;
      direction.chunk_left = chunk_bytes;
    }
    const std::uint64_t before = transfers_[slot].sent;
    if (before == 0) {
      direction.statistics.queue_time[tenant] += femtoseconds(now - transfers_[slot].eligible);
    }
    send_line(slot, now, outbox);
    const auto bytes = static_cast<std::uint32_t>(transfers_[slot].sent - before);
    take_wire(direction, now, bytes, tenant);
    direction.chunk_left -= std::min(direction.chunk_left, bytes);
    if (transfers_[slot].sent == transfers_[slot].bytes) {
      ++direction.statistics.transfers[tenant];
      direction.queue.erase(direction.queue.begin() + static_cast<std::ptrdiff_t>(position));
    }
  }
}

void HostLink::send_line(std::uint32_t transfer_index, Time now, Outbox& outbox) {
  Transfer& transfer = transfers_[transfer_index];
  const std::uint64_t address = transfer.physical + transfer.sent;
  const std::uint64_t begin = address % line_bytes;
  const std::uint64_t bytes = std::min(line_bytes - begin, transfer.bytes - transfer.sent);
  std::size_t size = lines_.size();
  const std::uint32_t tag = take_slot(free_lines_, size);
  lines_.resize(size);
  const std::uint64_t offset = transfer.offset + transfer.sent;
  lines_[tag] = {transfer_index, offset, static_cast<std::uint32_t>(bytes)};
  transfer.sent += bytes;

  MemoryRequest request;
  request.line = address - begin;
  request.tag = tag;
  request.requester = host_requester;
  request.tenant = transfer.tenant;
  request.sectors = sectors_of(begin, begin + bytes);
  request.flags = flag_dma;
  Link& link = partitions_[mapping_.partition(request.line)];
  constexpr auto kind = static_cast<std::uint16_t>(MessageKind::memory_request);
  if (transfer.kind != Transfer::Kind::to_gpu) {
    request.operation =
        transfer.kind == Transfer::Kind::inspect ? MemoryOperation::inspect : MemoryOperation::load;
    outbox.send(link, now, kind, request);
    return;
  }
  request.operation = MemoryOperation::store;
  const unsigned sectors = request.sector_count();
  const std::uint64_t first = begin / sector_bytes * sector_bytes;
  std::byte* place = outbox.reserve(link, now, kind, request, sectors * (4 + sector_bytes));
  for (unsigned s = 0; s < sectors; ++s) {
    std::uint32_t mask = 0;
    for (std::uint64_t b = 0; b < sector_bytes; ++b) {
      const std::uint64_t position = first + s * sector_bytes + b;
      if (position >= begin && position < begin + bytes) mask |= 1u << b;
    }
    std::memcpy(place + s * 4, &mask, sizeof mask);
  }
  std::byte* data = place + sectors * 4;
  std::memset(data, 0, sectors * sector_bytes);
  std::memcpy(data + (begin - first), host_bytes_(transfer, offset, bytes).data(), bytes);
}

std::optional<Transfer> HostLink::take(const MessageHeader& message) {
  const auto& response = message.body<MemoryResponse>();
  const Line line = lines_[response.tag];
  free_lines_.push_back(response.tag);
  last_answer_ = message.arrival;
  Transfer& transfer = transfers_[line.transfer];
  if (transfer.kind != Transfer::Kind::to_gpu) {
    const std::uint64_t address = transfer.physical + (line.offset - transfer.offset);
    const std::uint64_t begin = address % line_bytes % sector_bytes;
    std::memcpy(host_bytes_(transfer, line.offset, line.bytes).data(),
                message.payload_data() + begin, line.bytes);
  }
  transfer.acknowledged += line.bytes;
  if (transfer.acknowledged < transfer.bytes) return std::nullopt;
  free_transfers_.push_back(line.transfer);
  return transfer;
}

Time HostLink::occupy(bool to_gpu, Time now, std::uint64_t bytes, std::uint16_t tenant) {
  Direction& direction = directions_[to_gpu];
  const Time start = std::max(direction.free, now);
  direction.statistics.queue_time[tenant] += femtoseconds(start - now);
  take_wire(direction, start, bytes, tenant);
  return direction.free;
}

void HostLink::take_wire(Direction& direction, Time now, std::uint64_t bytes,
                         std::uint16_t tenant) {
  const Time taken = time_on_wire(bytes, parameters_.link_bandwidth);
  direction.free = now + taken;
  direction.statistics.bytes[tenant] += bytes;
  direction.statistics.busy_time[tenant] += femtoseconds(taken);
}

void HostLink::send_to_partition(std::uint32_t partition, Time now, MessageKind kind,
                                 const ZeroRange& range, Outbox& outbox) {
  outbox.send(partitions_[partition], now, static_cast<std::uint16_t>(kind), range);
}

bool HostLink::idle() const {
  return lines_in_flight() == 0 && next_activity() == Time::never();
}

}  // namespace lockstep
