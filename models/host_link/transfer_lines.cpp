#include "models/host_link/transfer_lines.hpp"

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

TransferLines::TransferLines(const HostParameters& parameters, AddressMapping mapping,
                             SourceKind source, HostBytes host_bytes,
                             const std::vector<std::uint32_t>& priorities, UplinkPort uplink,
                             bool stretches)
    : parameters_(parameters),
      curve_(parameters),
      mapping_(mapping),
      source_(source),
      host_bytes_(std::move(host_bytes)),
      uplink_(std::move(uplink)),
      sends_stretches_(stretches && !uplink_ && parameters.lines_in_flight >= lines_for_stretches),
      directions_{Direction(TenantTurns(parameters.link_order, priorities)),
                  Direction(TenantTurns(parameters.link_order, priorities))} {}

void TransferLines::start(Transfer transfer, Time now) {
  const std::uint32_t slot = take_slot(transfers_, free_transfers_);
  Active& active = transfers_[slot];
  active = {};
  active.transfer = std::move(transfer);
  active.transfer.started = active.transfer.began = now;
  active.duration = curve_.duration(active.transfer.bytes);
  active.time_per_byte = static_cast<double>(active.duration.femtoseconds()) /
                         static_cast<double>(active.transfer.bytes);
  Direction& direction = directions_[active.transfer.kind == Transfer::Kind::to_gpu];
  if (direction.queue.empty()) direction.ready = std::max(direction.ready, now);
  direction.queue.push(active.transfer.rank, active.transfer.tenant, slot);
  direction.waits.enter(active.transfer.tenant, now.femtoseconds());
}

[[gnu::always_inline]] inline Time TransferLines::next_of(const Direction& direction) const {
  if (direction.active != none) {
    if (direction.is_stretch) return direction.next;
    if (lines_in_flight() >= parameters_.lines_in_flight) return Time::never();
    return std::max(direction.next, last_answer_);
  }
  if (direction.queue.empty()) return Time::never();
  const Time ready = std::max(direction.ready, direction.remote_free);
  return parameters_.copy_engines > 1 ? ready : with_one_engine(direction, ready);
}

/// Lets the directions take turns where both want the engine.
Time TransferLines::with_one_engine(const Direction& direction, Time ready) const {
  const Direction& other = directions_[1 - number_of(direction)];
  if (other.active != none) return Time::never();
  const Time begin = std::max(ready, engine_free_);
  const Time theirs = std::max({other.ready, other.remote_free, engine_free_});
  const bool is_others_turn = number_of(direction) == last_direction_;
  return !other.queue.empty() && is_others_turn && theirs <= begin ? Time::never() : begin;
}

Time TransferLines::next_activity() const {
  return std::min(next_of(directions_[0]), next_of(directions_[1]));
}

[[gnu::always_inline]] inline void TransferLines::go_on(Direction& direction, Time now, Time late,
                                                        std::vector<Link>& partitions,
                                                        Outbox& outbox) {
  may_send_stretch() ? send_stretch(direction, late, partitions, outbox)
                     : book_line(direction, now);
}

void TransferLines::act(Time now, Time until, Time late, std::vector<Link>& partitions,
                        Outbox& outbox) {
  for (Direction& direction : directions_) {
    if (next_of(direction) > now) continue;
    if (direction.active == none) {
      begin(direction, now);
      go_on(direction, now, late, partitions, outbox);
    } else {
      const Direction& other = directions_[1 - number_of(direction)];
      const Time end = direction.is_stretch ? std::min(until, next_of(other)) : until;
      advance(direction, now, end, late, partitions, outbox);
    }
  }
}

/// A transfer that has begun is not split for one that an access waits for.
/// Source: virtual-memory-and-exceptions.md, section 18 ("report the maximum wait").
void TransferLines::count_wait(const Transfer& transfer, LinkStatistics& statistics) {
  const std::uint64_t waited = femtoseconds(transfer.queue_time());
  statistics.queue_time[transfer.tenant][static_cast<std::size_t>(transfer.rank)] += waited;
  Gauge& longest = statistics.longest_fault_wait[transfer.tenant];
  if (transfer.rank == Transfer::Class::fault && waited > longest.value()) longest = waited;
}

std::uint64_t TransferLines::piece_bytes(const Transfer& transfer) const {
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

void TransferLines::begin(Direction& direction, Time now) {
  const LinkQueue::Entry entry = direction.queue.pop();
  direction.active = entry.transfer;
  direction.arrival = entry.arrival;
  Active& active = transfers_[direction.active];
  Transfer& transfer = active.transfer;
  if (active.at.sent == 0) {
    transfer.began = now;
    count_wait(transfer, direction.statistics);
    direction.waits.take(transfer.tenant, now.femtoseconds(), Time::never().femtoseconds(),
                         direction.statistics.wait_behind);
  } else {
    direction.waits.hold(transfer.tenant, now.femtoseconds(), Time::never().femtoseconds(),
                         direction.statistics.wait_behind);
  }
  direction.piece_end = std::min(transfer.bytes, active.at.sent + piece_bytes(transfer));
  direction.origin = now - active.through(active.at.sent);
}

bool TransferLines::may_send_stretch() const {
  constexpr std::uint64_t most_lines = 2 * stretch_bytes / line_bytes;  // frames may divide lines
  return sends_stretches_ && lines_in_flight() + most_lines <= parameters_.lines_in_flight;
}

/// Takes a place in flight for the next line of a transfer.
[[gnu::always_inline]] inline RequestOwner TransferLines::enter_line(std::uint32_t slot,
                                                                     std::uint64_t bytes) {
  const Active& active = transfers_[slot];
  const std::uint32_t line = take_slot(lines_, free_lines_);
  lines_[line] = {active.transfer.offset + active.at.sent, slot, static_cast<std::uint16_t>(bytes),
                  static_cast<std::uint16_t>(active.address_of(active.at) % sector_bytes)};
  return {RequestPart::transfer, line};
}

void TransferLines::send_stretch(Direction& direction, Time late, std::vector<Link>& partitions,
                                 Outbox& outbox) {
  Active& active = transfers_[direction.active];
  const Transfer& transfer = active.transfer;
  const std::uint64_t begin = active.at.sent;
  const std::uint64_t end = std::min(direction.piece_end, begin + stretch_bytes);
  const bool to_gpu = transfer.kind == Transfer::Kind::to_gpu;
  CopyStretch stretch;
  stretch.offset = transfer.offset + begin;
  stretch.buffer = transfer.buffer;
  stretch.tenant = transfer.tenant;
  stretch.source = source_;
  stretch.to_gpu = to_gpu ? 1 : 0;
  stretch.is_initial = to_gpu && transfer.is_initial ? 1 : 0;
  if (to_gpu) stretch.number = take_slot(stretches_, free_stretches_);
  direction.is_stretch = true;
  direction.left = active.at;
  direction.next = departure_of(direction, active, active.at);
  parts_.resize(partitions.size());
  std::uint32_t lines = 0;
  for (; active.at.sent < end; ++lines) {
    const std::uint64_t bytes = active.bytes_at(active.at), address = active.address_of(active.at);
    const std::uint32_t partition =
        mapping_.partition(PhysicalAddress{address - address % line_bytes}).value();
    CopiedLine line;
    line.arrival =
        departure_of(direction, active, active.at) + late + partitions[partition].latency();
    line.address = address;
    line.at = static_cast<std::uint32_t>(active.at.sent - begin);
    line.bytes = static_cast<std::uint32_t>(bytes);
    if (!to_gpu) line.tag = enter_line(direction.active, bytes).bits();
    parts_[partition].push_back(line);
    active.pass(active.at, bytes);
  }
  if (to_gpu) {
    stretches_[stretch.number] = {direction.active, lines};
    stretched_ += lines;
  }
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    if (parts_[p].empty()) continue;
    send_lines_of(stretch, transfer, partitions[p], parts_[p], outbox);
    parts_[p].clear();
  }
}

void TransferLines::send_lines_of(const CopyStretch& stretch, const Transfer& transfer,
                                  Link& partition, std::span<const CopiedLine> lines,
                                  Outbox& outbox) const {
  const bool has_bytes = stretch.to_gpu != 0 && stretch.is_initial == 0;
  CopyStretch part = stretch;
  part.lines = static_cast<std::uint16_t>(lines.size());
  // The partition hears of the stretch with its first line.
  std::byte* to = outbox.reserve_ahead(
      partition, lines.front().arrival - partition.latency(), kind_of(MessageKind::copy_stretch),
      part, lines.size_bytes() + (has_bytes ? lines.size() * line_bytes : 0));
  std::memcpy(to, lines.data(), lines.size_bytes());
  to += lines.size_bytes();
  if (!has_bytes) return;
  for (const CopiedLine& line : lines) {
    const std::span<const std::byte> bytes =
        host_bytes_(transfer, stretch.offset + line.at, line.bytes);
    std::memcpy(to, bytes.data(), bytes.size());
    std::memset(to + bytes.size(), 0, line_bytes - bytes.size());
    to += line_bytes;
  }
}

void TransferLines::book_line(Direction& direction, Time now) {
  const Active& active = transfers_[direction.active];
  direction.next = departure_of(direction, active, active.at);
  if (!uplink_) return;
  const std::uint64_t bytes = active.bytes_at(active.at);
  const bool to_gpu = active.transfer.kind == Transfer::Kind::to_gpu;
  const Time through = uplink_.take(to_gpu, now, bytes, active.transfer.tenant);
  if (through <= direction.next) return;
  direction.origin += through - direction.next;
  direction.next = through;
}

void TransferLines::advance(Direction& direction, Time now, Time until, Time late,
                            std::vector<Link>& partitions, Outbox& outbox) {
  const std::uint32_t slot = direction.active;
  const Active& active = transfers_[slot];
  const Transfer& transfer = active.transfer;
  const auto rank = static_cast<std::size_t>(transfer.rank);
  LinkStatistics& statistics = direction.statistics;
  if (direction.is_stretch) {
    if (!leave(direction, until)) return;
    now = direction.next;
  } else {
    const std::uint64_t bytes = send_line(slot, now + late, partitions, outbox);
    count_lines(active, active.at.sent - bytes, active.at.sent, statistics);
    // The transfer had to wait for a place among those in flight.
    direction.origin += now - direction.next;
  }
  if (active.at.sent < direction.piece_end) return go_on(direction, now, late, partitions, outbox);
  direction.active = none;
  direction.ready = now;
  engine_free_ = now;
  last_direction_ = number_of(direction);
  direction.waits.hold(transfer.tenant, now.femtoseconds(), now.femtoseconds(),
                       direction.statistics.wait_behind);
  if (active.at.sent < transfer.bytes) {
    direction.queue.put_back(transfer.rank, transfer.tenant, {direction.arrival, slot});
  } else {
    ++statistics.transfers[transfer.tenant][rank];
    statistics.sizes[transfer.tenant].add(transfer.bytes / 1024);
  }
}

void TransferLines::count_lines(const Active& active, std::uint64_t from, std::uint64_t to,
                                LinkStatistics& statistics) {
  const Transfer& transfer = active.transfer;
  const auto rank = static_cast<std::size_t>(transfer.rank);
  statistics.bytes[transfer.tenant][rank] += to - from;
  statistics.busy_time[transfer.tenant][rank] +=
      femtoseconds(active.through(to) - active.through(from));
}

bool TransferLines::leave(Direction& direction, Time until) {
  const Active& active = transfers_[direction.active];
  Place& place = direction.left;
  const std::uint64_t from = place.sent;
  do {
    active.pass(place, active.bytes_at(place));
    direction.is_stretch = place.sent < active.at.sent;
    if (!direction.is_stretch) break;
    direction.next = departure_of(direction, active, place);
  } while (direction.next < until);
  count_lines(active, from, place.sent, direction.statistics);
  return !direction.is_stretch;
}

std::uint64_t TransferLines::send_line(std::uint32_t slot, Time departure,
                                       std::vector<Link>& partitions, Outbox& outbox) {
  Active& active = transfers_[slot];
  const Transfer& transfer = active.transfer;
  const std::uint64_t address = active.address_of(active.at);
  const std::uint64_t begin = address % line_bytes;
  const std::uint64_t bytes = active.bytes_at(active.at);
  const std::uint64_t offset = transfer.offset + active.at.sent;
  const RequestOwner owner = enter_line(slot, bytes);
  active.pass(active.at, bytes);

  MemoryRequest request;
  request.line = address - begin;
  request.tag = owner.bits();
  request.source = source_;
  request.tenant = transfer.tenant;
  request.sectors = sectors_of(begin, begin + bytes);
  request.flags = flag_dma;
  Link& link = partitions[mapping_.partition(PhysicalAddress{request.line}).value()];
  constexpr std::uint16_t kind = kind_of(MessageKind::memory_request);
  if (transfer.kind != Transfer::Kind::to_gpu) {
    request.operation = MemoryOperation::load;
    outbox.send(link, departure, kind, request);
    return bytes;
  }
  request.operation = MemoryOperation::store;
  std::byte* place =
      outbox.reserve(link, departure, kind, request,
                     request.sector_count() * (sizeof(std::uint32_t) + sector_bytes));
  fill_store(place, begin, begin + bytes, host_bytes_(transfer, offset, bytes).data());
  return bytes;
}

TransferLines::Landing TransferLines::landing_of(std::uint32_t number) const {
  const Line& line = lines_[number];
  return {transfers_[line.transfer].transfer, line.offset, line.bytes, line.skip};
}

std::optional<Transfer> TransferLines::landed(std::uint32_t number, Time now) {
  const Line line = lines_[number];
  free_lines_.push_back(number);
  return acknowledge(line.transfer, line.bytes, now);
}

std::optional<Transfer> TransferLines::landed(const StretchDone& done, Time now) {
  Stretch& stretch = stretches_[done.number];
  const std::uint32_t transfer = stretch.transfer;
  stretched_ -= done.lines;
  stretch.lines -= done.lines;
  if (stretch.lines == 0) free_stretches_.push_back(done.number);
  return acknowledge(transfer, done.bytes, now);
}

std::optional<Transfer> TransferLines::acknowledge(std::uint32_t transfer, std::uint64_t bytes,
                                                   Time now) {
  Active& active = transfers_[transfer];
  last_answer_ = now;
  active.acknowledged += bytes;
  if (active.acknowledged < active.transfer.bytes) return std::nullopt;
  active.transfer.done = now;
  free_transfers_.push_back(transfer);
  return std::move(active.transfer);
}

Time TransferLines::occupy(bool to_gpu, Time now, std::uint64_t bytes, TenantId tenant) {
  Direction& direction = directions_[to_gpu];
  const Time taken{static_cast<std::int64_t>(static_cast<double>(bytes) * 1e15 /
                                             parameters_.link_bandwidth.bytes_per_second())};
  const Time begin = std::max(direction.remote_free, now);
  direction.remote_free = begin + taken;
  if (uplink_)
    direction.remote_free =
        std::max(direction.remote_free, uplink_.take(to_gpu, now, bytes, tenant.value()));
  LOCKSTEP_CHECK(!direction.is_stretch, "a remote access between lines that have been sent");
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

std::uint64_t TransferLines::bytes_of(std::uint16_t tenant, bool to_gpu) const {
  std::uint64_t bytes = 0;
  for (const Counter& of_class : directions_[to_gpu].statistics.bytes[tenant])
    bytes += of_class.value();
  return bytes;
}

bool TransferLines::uses(const FrameRun& frames) const {
  return std::any_of(transfers_.begin(), transfers_.end(),
                     [&](const Active& active) { return active.transfer.touches(frames); });
}

bool TransferLines::idle() const {
  return lines_in_flight() == 0 && next_activity() == Time::never();
}

}  // namespace lockstep
