#include "models/host_link/host_link.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/outbox.hpp"
#include "core/memory/slots.hpp"
#include "models/host_link/link_messages.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

HostLink::HostLink(const HostParameters& parameters, AddressMapping mapping,
                   std::vector<Link> partitions, HostBytes host_bytes,
                   const std::vector<std::uint32_t>& priorities, UplinkPort uplink,
                   std::optional<Link> to_unit, bool stretches)
    : mapping_(mapping),
      partitions_(std::move(partitions)),
      to_unit_(to_unit),
      host_bytes_(host_bytes),
      lines_(parameters, mapping, SourceKind::host, std::move(host_bytes), priorities,
             std::move(uplink), stretches),
      moved_(priorities.size()) {}

void HostLink::start(Transfer transfer, Time now, Outbox& outbox) {
  LOCKSTEP_CHECK(transfer.bytes > 0 && !transfer.frames.empty(), "an empty transfer");
  if (transfer.kind == Transfer::Kind::inspect) return inspect(std::move(transfer), now, outbox);
  if (to_unit_) return hand_over(std::move(transfer), now, outbox);
  lines_.start(std::move(transfer), now);
}

/// Hands a transfer over, with its bytes as they are now, unless they can be computed there.
void HostLink::hand_over(Transfer transfer, Time now, Outbox& outbox) {
  const std::uint32_t number = take_slot(transfers_, free_transfers_);
  ++moved_[transfer.tenant];
  transfer.started = now;
  const LinkTransfer handed{transfer.bytes,
                            transfer.offset,
                            number,
                            transfer.buffer,
                            transfer.is_initial,
                            transfer.tenant,
                            static_cast<std::uint8_t>(transfer.kind),
                            static_cast<std::uint8_t>(transfer.rank)};
  outbox.send(*to_unit_, now, kind_of(MessageKind::link_transfer), handed,
              std::as_bytes(std::span(transfer.frames)));
  const bool sends = transfer.kind == Transfer::Kind::to_gpu && !transfer.is_initial;
  for (std::uint64_t at = 0; sends && at < transfer.bytes; at += link_message_bytes) {
    const std::uint64_t bytes = std::min(link_message_bytes, transfer.bytes - at);
    outbox.send(*to_unit_, now, kind_of(MessageKind::link_bytes), LinkBytes{at, number},
                host_bytes_(transfer, transfer.offset + at, bytes));
  }
  transfers_[number] = std::move(transfer);
}

void HostLink::take_bytes(const MessageHeader& message) {
  const auto& said = message.body<LinkBytes>();
  const Transfer& transfer = transfers_[said.number];
  const std::span<const std::byte> bytes = message.payload();
  std::memcpy(host_bytes_(transfer, transfer.offset + said.offset, bytes.size()).data(),
              bytes.data(), bytes.size());
}

Transfer HostLink::take_moved(const MessageHeader& message) {
  const auto& said = message.body<LinkMoved>();
  const auto number = static_cast<std::uint32_t>(said.number);
  Transfer& transfer = transfers_[number];
  transfer.began = said.began;
  transfer.done = message.arrival;
  ++moved_[transfer.tenant];
  free_transfers_.push_back(number);
  return std::exchange(transfer, Transfer{});
}

/// Asks each partition for its part of a run of frames.
void HostLink::inspect(Transfer transfer, Time now, Outbox& outbox) {
  const std::uint32_t slot = take_slot(inspections_, free_inspections_);
  Inspection& inspection = inspections_[slot];
  inspection = {std::move(transfer)};
  inspection.transfer.started = inspection.transfer.began = now;
  InspectedRange range;
  range.offset = inspection.transfer.offset;
  range.transfer = slot;
  std::uint64_t left = inspection.transfer.bytes;
  for (const FrameRun& run : inspection.transfer.frames) {
    range.base = run.physical;
    range.bytes = std::min(run.bytes, left);
    for (const std::uint32_t partition : partitions_of(range)) {
      outbox.send(partitions_[partition], now, kind_of(MessageKind::inspect_range), range);
      ++inspection.asked;
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
  Inspection& inspection = inspections_[range.transfer];
  for (std::size_t at = 0; at < message.payload_bytes; at += sizeof(InspectedLine)) {
    InspectedLine line;
    std::memcpy(&line, message.payload_data() + at, sizeof line);
    const std::uint64_t begin = std::max(line.line, range.base);
    const std::uint64_t end = std::min(line.line + line_bytes, range.base + range.bytes);
    std::memcpy(
        host_bytes_(inspection.transfer, range.offset + (begin - range.base), end - begin).data(),
        line.bytes.data() + (begin - line.line), end - begin);
  }
  if (range.last == 0) return;
  --inspected_;
  if (--inspection.asked == 0) free_inspections_.push_back(range.transfer);
}

bool HostLink::concerns_link_alone(const MessageHeader& message) const {
  if (message.kind == kind_of(MessageKind::stretch_done))
    return !lines_.completes(message.body<StretchDone>());
  if (message.kind != kind_of(MessageKind::memory_response)) return false;
  const RequestOwner owner = RequestOwner::of(message.body<MemoryResponse>().tag);
  return owner.part == RequestPart::transfer && !lines_.is_last(owner.number);
}

std::size_t HostLink::run(Inbox messages, Time until, Outbox& outbox) {
  if (to_unit_) return 0;
  std::size_t taken = 0;
  while (true) {
    const Time arrival = taken < messages.size() ? messages[taken]->arrival : Time::never();
    const Time activity = lines_.next_activity();
    if (std::min(arrival, activity) >= until) break;
    if (arrival > activity) {
      act(activity, std::min(arrival, until), outbox);
      continue;
    }
    if (!concerns_link_alone(*messages[taken])) break;
    take(*messages[taken++]);
  }
  return taken;
}

std::optional<Transfer> HostLink::take(const MessageHeader& message) {
  if (message.kind == kind_of(MessageKind::stretch_done))
    return lines_.landed(message.body<StretchDone>(), message.arrival);
  const std::uint32_t number = RequestOwner::of(message.body<MemoryResponse>().tag).number;
  const TransferLines::Landing line = lines_.landing_of(number);
  if (line.transfer.kind != Transfer::Kind::to_gpu) {
    std::memcpy(host_bytes_(line.transfer, line.offset, line.bytes).data(),
                message.payload_data() + line.skip, line.bytes);
  }
  return lines_.landed(number, message.arrival);
}

void HostLink::answer(const MemoryResponse& answer, std::span<const std::byte> payload,
                      std::uint64_t received, Time now, Link& to_sm, Outbox& outbox) {
  if (to_unit_) {
    ++moved_[answer.tenant];
    outbox.send(*to_unit_, now, kind_of(MessageKind::link_answer), LinkAnswer{answer, received},
                payload);
    return;
  }
  // Bytes of a store came over the link; bytes of a load go over it.
  lines_.occupy(false, now, received, TenantId{answer.tenant});
  const Time departure = lines_.occupy(true, now, payload.size(), TenantId{answer.tenant});
  outbox.send(to_sm, departure, kind_of(MessageKind::memory_response), answer, payload);
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
  if (to_unit_) outbox.send(*to_unit_, now, kind_of(kind), mark);
}

bool HostLink::is_moving(std::uint16_t tenant) const {
  return std::any_of(transfers_.begin(), transfers_.end(), [&](const Transfer& transfer) {
    return transfer.tenant == tenant && !transfer.frames.empty();
  });
}

bool HostLink::uses(const FrameRun& frames) const {
  // An inspection has already read its bytes; later changes do not matter to it.
  return lines_.uses(frames) ||
         std::any_of(transfers_.begin(), transfers_.end(),
                     [&](const Transfer& transfer) { return transfer.touches(frames); });
}

}  // namespace lockstep
