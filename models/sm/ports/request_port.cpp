#include "models/sm/ports/request_port.hpp"

#include "core/error/error.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t most_credits = 0xffff;

}  // namespace

RequestPort::RequestPort(Setup setup)
    : noc_(setup.noc),
      flit_(Clock{setup.noc.clock}.period()),
      injection_latency_(setup.injection_latency),
      queue_limit_(setup.queue_limit) {
  for (const Way& way : setup.ways) {
    kinds_.push_back({way.kind, way.name, static_cast<std::uint16_t>(way.links.size())});
    first_.at(number_of(way.kind)) = static_cast<std::uint16_t>(lanes_.size());
    trunks_[number_of(way.kind)] = Trunk(way.links);
    const std::uint32_t credits = std::min(noc_.credits * way.entries, most_credits);
    lanes_.resize(lanes_.size() + way.links.size(), Lane{static_cast<std::uint16_t>(credits)});
  }
}

void RequestPort::Queued::resize_payload(std::uint32_t bytes) {
  payload_bytes = bytes;
  // A load carries no payload, and its memory may be far away.
  if (bytes == 0 || bytes <= payload_room) return;
  payload = std::make_unique<std::byte[]>(bytes);
  payload_room = bytes;
}

RequestPort::Place RequestPort::enqueue(Destination destination, std::size_t payload_bytes) {
  std::uint16_t index;
  if (unused_.empty()) {
    LOCKSTEP_CHECK(pool_.size() < none, "too many requests wait for credits");
    index = static_cast<std::uint16_t>(pool_.size());
    pool_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  Queued& queued = pool_[index];
  queued.request = {};
  queued.resize_payload(static_cast<std::uint32_t>(payload_bytes));
  queued.next = none;
  Lane& lane = lane_of(destination);
  (lane.last == none ? lane.first : pool_[lane.last].next) = index;
  lane.last = index;
  ++queued_;
  return {queued.request, payload_bytes == 0 ? nullptr : queued.payload.get()};
}

void RequestPort::dequeue(Destination destination, Time now, Outbox& outbox) {
  Lane& lane = lane_of(destination);
  const std::uint16_t index = lane.first;
  lane.first = pool_[index].next;
  if (lane.first == none) lane.last = none;
  --queued_;
  unused_.push_back(index);
  // The request was ready long ago: only the port can hold it up.
  const Time injected = now - injection_latency_;
  const Queued& queued = pool_[index];
  const Place place = transmit(destination, queued.payload_bytes, injected, outbox);
  place.request = queued.request;
  std::copy_n(queued.payload.get(), queued.payload_bytes, place.payload);
}

std::string RequestPort::waiting_for() const {
  if (queued_ == 0) return "";
  for (const Kind& of : kinds_)
    for (std::uint16_t i = 0; i < of.count; ++i)
      if (lane_of({of.kind, i}).first != none)
        return std::to_string(queued_) + " requests wait for credits, the first from " +
               (of.kind == Destination::Kind::host ? of.name
                                                   : of.name + "[" + std::to_string(i) + "]");
  return "";
}

void RequestPort::serialize(Archive& archive) {
  for (const Kind& of : kinds_) trunks_[number_of(of.kind)].serialize(archive);
  unanswered_ = 0;
  for (Lane& lane : lanes_) {
    archive(lane.credits, lane.first, lane.last);
    unanswered_ += noc_.credits - lane.credits;
  }
  std::uint64_t pooled = pool_.size();
  archive(pooled);
  archive.require(pooled);
  pool_.resize(pooled);
  for (Queued& q : pool_) {
    std::uint32_t bytes = q.payload_bytes;
    archive(q.request, bytes, q.next);
    archive.require(bytes);
    q.resize_payload(bytes);
    archive.bytes(q.payload.get(), bytes);
  }
  archive(unused_, queued_, free_, waited_);
}

}  // namespace lockstep
