#include "models/sm/ports/request_port.hpp"

#include "core/error/error.hpp"

namespace lockstep {

RequestPort::RequestPort(Setup setup)
    : noc_(setup.noc),
      flit_(Clock{setup.noc.clock}.period()),
      injection_latency_(setup.injection_latency),
      queue_limit_(setup.queue_limit),
      to_partitions_(setup.to_partitions),
      to_host_(setup.to_host),
      lanes_(setup.to_partitions.size() + 1, Lane{static_cast<std::uint16_t>(setup.noc.credits)}) {}

void RequestPort::Queued::resize_payload(std::uint32_t bytes) {
  payload_bytes = bytes;
  if (bytes == 0 || bytes <= payload_room) return;  // of a load nothing is read: it may be far away
  payload = std::make_unique<std::byte[]>(bytes);
  payload_room = bytes;
}

RequestPort::Place RequestPort::enqueue(std::uint32_t destination, std::size_t payload_bytes) {
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
  Lane& lane = lanes_[destination];
  (lane.last == none ? lane.first : pool_[lane.last].next) = index;
  lane.last = index;
  ++queued_;
  return {queued.request, payload_bytes == 0 ? nullptr : queued.payload.get()};
}

void RequestPort::dequeue(std::uint32_t destination, Time now, Outbox& outbox) {
  Lane& lane = lanes_[destination];
  const std::uint16_t index = lane.first;
  lane.first = pool_[index].next;
  if (lane.first == none) lane.last = none;
  --queued_;
  unused_.push_back(index);
  // It was ready long ago: only the port can hold it up.
  const Time injected = now - injection_latency_;
  const Queued& queued = pool_[index];
  const Place place = transmit(destination, queued.payload_bytes, injected, outbox);
  place.request = queued.request;
  std::copy_n(queued.payload.get(), queued.payload_bytes, place.payload);
}

std::string RequestPort::waiting_for() const {
  if (queued_ == 0) return "";
  for (std::size_t d = 0; d < lanes_.size(); ++d)
    if (lanes_[d].first != none)
      return std::to_string(queued_) + " requests wait for credits, the first from " +
             (d + 1 == lanes_.size() ? "the host" : "partition[" + std::to_string(d) + "]");
  return "";
}

void RequestPort::serialize(Archive& archive) {
  to_partitions_.serialize(archive);
  to_host_.serialize(archive);
  for (Lane& lane : lanes_) archive(lane.credits, lane.first, lane.last);
  std::uint64_t pooled = pool_.size();
  archive(pooled);
  pool_.resize(pooled);
  for (Queued& q : pool_) {
    std::uint32_t bytes = q.payload_bytes;
    archive(q.request, bytes, q.next);
    q.resize_payload(bytes);
    archive.bytes(q.payload.get(), bytes);
  }
  archive(unused_, queued_, free_, waited_);
}

}  // namespace lockstep
