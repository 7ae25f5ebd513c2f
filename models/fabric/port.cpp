#include "models/fabric/port.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "core/memory/slots.hpp"
#include "models/noc/peer_address.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

Port::Port(Setup setup)
    : parameters_(std::move(setup.parameters)),
      has_way_in_(parameters_.kind == FabricKind::crossed),
      gpu_(setup.gpu),
      counts_to_(setup.counts_to),
      mapping_(setup.mapping),
      tenants_(std::move(setup.tenants)),
      to_host_(setup.to_host),
      to_sms_(std::move(setup.to_sms)),
      to_partitions_(std::move(setup.to_partitions)),
      peers_(std::move(setup.peers)),
      in_(parameters_.rate.bytes_per_second()) {
  set_tenants(statistics_, tenants_.size());
  if (has_way_in_) {
    out_.emplace_back(parameters_.rate.bytes_per_second());
  } else {
    for (const Peer& peer : peers_) out_.emplace_back(peer.bytes_per_second);
  }
  engines_.resize(out_.size());
}

Time Port::next_activity() const {
  Time next = arriving_.empty() ? Time::never() : arriving_.front().since;
  if (!reads()) return next;
  for (const Engine& engine : engines_)
    if (!engine.copies.empty()) next = std::min(next, engine.next);
  return next;
}

void Port::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  for (;;) {
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time activity = next_activity();
    if (std::min(arrival, activity) >= horizon) return;
    if (arrival <= activity) {
      take(*inbox[next++], outbox);
    } else {
      act(activity, outbox);
    }
  }
}

void Port::act(Time now, Outbox& outbox) {
  if (!arriving_.empty() && arriving_.front().since <= now) {
    const Packet packet = std::move(arriving_.front());
    arriving_.pop_front();
    return pass_on(packet, now, outbox);
  }
  for (Engine& engine : engines_)
    if (reads() && !engine.copies.empty() && engine.next <= now) read_line(engine, now, outbox);
}

void Port::take(const MessageHeader& message, Outbox& outbox) {
  const Time now = message.arrival;
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_request: {
      const auto& request = message.body<MemoryRequest>();
      if (request.source == SourceKind::sm) return ask(request, message.payload(), now, outbox);
      const std::uint16_t tenant = local_tenant(request.tenant);
      const double bytes = bytes_of(request, message.payload_bytes);
      const std::span<const std::byte> payload = message.payload();
      return receive({now, false, request, {}, {payload.begin(), payload.end()}}, bytes, tenant,
                     now, outbox);
    }
    case MessageKind::memory_response: {
      const auto& response = message.body<MemoryResponse>();
      const Slot slot = slots_[response.tag];
      const std::span<const std::byte> payload = message.payload();
      if (slot.kind == Slot::Kind::reading) return write_line(response.tag, payload, now, outbox);
      if (slot.kind == Slot::Kind::foreign)
        return answer_port(release(response.tag), response, payload, now, outbox);
      return receive({now, true, {}, response, {payload.begin(), payload.end()}},
                     bytes_of(response, payload.size()), slot.tenant, now, outbox);
    }
    case MessageKind::peer_copy:
      return begin_copy(message);
    default:
      LOCKSTEP_CHECK(false, "a port got a message of kind " + std::to_string(message.kind));
  }
}

void Port::ask(const MemoryRequest& request, std::span<const std::byte> payload, Time now,
               Outbox& outbox) {
  waiting_.push_back({now, false, request, {}, {payload.begin(), payload.end()}});
  send_waiting(now, outbox);
}

void Port::send_waiting(Time now, Outbox& outbox) {
  while (!waiting_.empty() && tags_ < parameters_.tags) {
    const Packet packet = std::move(waiting_.front());
    waiting_.pop_front();
    MemoryRequest request = packet.request;
    const std::uint32_t tag = take_slot(slots_, free_slots_);
    slots_[tag] = {Slot::Kind::sm, 0,           0,           request.requester,
                   request.tenant, request.tag, request.line};
    ++tags_;
    PortStatistics::OfTenant& counts = statistics_.tenant[request.tenant];
    ++counts.requests;
    counts.wait_for_tags += static_cast<std::uint64_t>((now - packet.since).femtoseconds());
    if ((request.line & counted_peer_bit) != 0) count(request, now, outbox);
    const std::uint32_t peer = peer_of(gpu_of_peer_address(request.line & ~counted_peer_bit));
    const Time departure =
        leave(peer, bytes_of(request, packet.payload.size()), request.tenant, now);
    request.line = physical_of_peer_address(request.line);
    request.tag = tag;
    request.source = SourceKind::peer;
    request.requester = static_cast<std::uint16_t>(gpu_);
    request.tenant = static_cast<std::uint16_t>(tenants_[request.tenant]);
    outbox.send(peers_[peer].link, departure, kind_of(MessageKind::memory_request), request,
                packet.payload);
  }
}

void Port::count(const MemoryRequest& request, Time now, Outbox& outbox) {
  const std::uint64_t page = request.line & ~(page_bytes - 1);
  const auto counted = counts_.try_emplace(page).first;
  if (++counted->second < counts_to_) return;
  counts_.erase(counted);
  outbox.send(to_host_, now, kind_of(MessageKind::peer_counted), PeerCounted{page, request.tenant});
}

void Port::answer_sm(const Slot& slot, MemoryResponse response, std::span<const std::byte> payload,
                     Time now, Outbox& outbox) {
  --tags_;
  response.line = slot.address;
  response.tag = slot.tag;
  response.requester = slot.origin;
  response.tenant = slot.tenant;
  outbox.send(to_sms_[slot.origin], now, kind_of(MessageKind::memory_response), response, payload);
  send_waiting(now, outbox);
}

void Port::receive(Packet packet, double bytes, std::uint16_t tenant, Time now, Outbox& outbox) {
  PortStatistics::OfTenant& counts = statistics_.tenant[tenant];
  counts.bytes_in += static_cast<std::uint64_t>(bytes);
  if (has_way_in_) {
    const Wire::Turn turn = in_.take(now, bytes, tenant);
    counts.wait_in += turn.waited;
    statistics_.in_wait_behind.at(tenant, turn.behind) += turn.waited;
    packet.since = turn.begin;
    if (turn.begin > now) return arriving_.push_back(std::move(packet));
  }
  pass_on(packet, now, outbox);
}

void Port::pass_on(const Packet& packet, Time now, Outbox& outbox) {
  return packet.is_answer ? take_answer(packet, now, outbox) : serve(packet, now, outbox);
}

void Port::serve(const Packet& packet, Time now, Outbox& outbox) {
  MemoryRequest request = packet.request;
  const std::uint32_t tag = take_slot(slots_, free_slots_);
  const std::uint16_t tenant = local_tenant(request.tenant);
  const auto peer = static_cast<std::uint16_t>(peer_of(request.requester));
  slots_[tag] = {Slot::Kind::foreign, 0, 0, peer, tenant, request.tag, 0};
  ++statistics_.tenant[tenant].served;
  request.tag = tag;
  request.requester = 0;
  request.tenant = tenant;
  const PartitionId partition = mapping_.partition(PhysicalAddress{request.line});
  outbox.send(to_partitions_[partition.value()], now, kind_of(MessageKind::memory_request), request,
              packet.payload);
}

void Port::answer_port(const Slot& slot, MemoryResponse response,
                       std::span<const std::byte> payload, Time now, Outbox& outbox) {
  response.tag = slot.tag;
  response.tenant = static_cast<std::uint16_t>(tenants_[slot.tenant]);
  const Time departure = leave(slot.origin, bytes_of(response, payload.size()), slot.tenant, now);
  outbox.send(peers_[slot.origin].link, departure, kind_of(MessageKind::memory_response), response,
              payload);
}

void Port::take_answer(const Packet& packet, Time now, Outbox& outbox) {
  const Slot slot = release(packet.response.tag);
  if (slot.kind == Slot::Kind::sm)
    return answer_sm(slot, packet.response, packet.payload, now, outbox);
  LOCKSTEP_CHECK(slot.kind == Slot::Kind::writing, "nobody asked for an answer of another GPU");
  line_written(slot, now, outbox);
}

Time Port::leave(std::uint32_t peer, double bytes, std::uint16_t tenant, Time now) {
  Wire& wire = out_[has_way_in_ ? 0 : peer];
  const Wire::Turn turn = wire.take(now, bytes, tenant);
  PortStatistics::OfTenant& counts = statistics_.tenant[tenant];
  counts.bytes_out += static_cast<std::uint64_t>(bytes);
  counts.busy_time += static_cast<std::uint64_t>((turn.end - turn.begin).femtoseconds());
  counts.wait_out += turn.waited;
  statistics_.out_wait_behind.at(tenant, turn.behind) += turn.waited;
  return turn.end;
}

double Port::line_bytes_of(std::uint64_t bytes) const {
  const auto payload = static_cast<double>(parameters_.payload.count());
  return static_cast<double>(bytes) *
         (1 + static_cast<double>(parameters_.header.count()) / payload);
}

double Port::bytes_of(const MemoryRequest& request, std::size_t payload) const {
  if ((request.flags & flag_dma) == 0) return packet_bytes(payload);
  return line_bytes_of(std::uint64_t{sector_bytes} * request.sector_count());
}

std::uint32_t Port::peer_of(std::uint32_t gpu) const {
  const auto found =
      std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) { return peer.gpu == gpu; });
  LOCKSTEP_CHECK(found != peers_.end(),
                 "GPU " + std::to_string(gpu_) + " has no way to GPU " + std::to_string(gpu));
  return static_cast<std::uint32_t>(found - peers_.begin());
}

std::uint16_t Port::local_tenant(std::uint32_t number) const {
  const auto found = std::lower_bound(tenants_.begin(), tenants_.end(), number);
  LOCKSTEP_CHECK(found != tenants_.end() && *found == number,
                 "a tenant asks for memory of a GPU on which it is not");
  return static_cast<std::uint16_t>(found - tenants_.begin());
}

Port::Slot Port::release(std::uint32_t slot) {
  LOCKSTEP_CHECK(slot < slots_.size() && slots_[slot].kind != Slot::Kind::free,
                 "an answer came to nobody");
  free_slots_.push_back(slot);
  return std::exchange(slots_[slot], Slot{});
}

StatisticsView Port::statistics(Time) {
  return statistics_view(statistics_);
}

bool Port::finished() const {
  return free_slots_.size() == slots_.size() && waiting_.empty() && arriving_.empty() &&
         free_copies_.size() == copies_.size();
}

std::string Port::waiting_for() const {
  if (finished()) return "";
  return std::to_string(slots_.size() - free_slots_.size()) + " requests without an answer, " +
         std::to_string(waiting_.size()) + " wait for tags, " + std::to_string(arriving_.size()) +
         " on the way in, " + std::to_string(copies_.size() - free_copies_.size()) + " copies";
}

void Port::Packet::serialize(Archive& archive) {
  archive(since, is_answer, request, payload);
  archive(response.line, response.tag, response.requester, response.tenant, response.warp,
          response.operation, response.sectors, response.flags, response.l2_hits,
          response.walk_level, response.lanes);
}

void Port::serialize(Archive& archive) {
  archive.section("port", 3);
  for (Peer& peer : peers_) archive(peer.link);
  archive(statistics_, to_host_, to_sms_, to_partitions_, out_, in_, slots_, free_slots_, tags_,
          lines_, waiting_, arriving_, copies_, free_copies_, engines_, counts_);
}

}  // namespace lockstep
