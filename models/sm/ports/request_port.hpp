/// The SM's way into the network: a queue for each destination (a partition, the host, or any other
/// component that answers) with loads, stores and atomics together, credits, and one injection port
/// that all queues share.
///
/// A request with a credit leaves when the port is free; the port moves one flit per network cycle.
/// Without a credit it waits in its destination's queue; an answer brings the credit back.
/// Source: architecture.md, section 8, rule 2 and "Back-pressure"; gpu-parameters.md, section 8.
///
/// Simplified: requests to different destinations get the port in the order in which they are
/// ready.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "models/noc/destination.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/noc_parameters.hpp"

namespace lockstep {

class RequestPort {
 public:
  /// All destinations of a kind, by their numbers.
  struct Way {
    Destination::Kind kind;
    std::string name;
    std::vector<Link> links;    ///< links to neighbours in the graph
    std::uint32_t entries = 1;  ///< receiving ports of a destination, each with noc.credits
  };
  struct Setup {
    NocParameters noc;
    std::vector<Way> ways;  ///< ways out, the one to the host among them
    std::uint32_t queue_limit = 64;
    Time injection_latency;
  };
  RequestPort() = default;
  explicit RequestPort(Setup setup);

  /// Returns whether there is room for one more request to `destination`.
  bool accepts(Destination destination) const {
    const Lane& lane = lane_of(destination);
    return (lane.credits > 0 && lane.first == none) || queued_ < queue_limit_;
  }
  /// Returns whether nothing waits and a request to `destination` would leave at once.
  bool is_idle(Destination destination, Time now) const {
    return queued_ == 0 && lane_of(destination).credits > 0 && free_ <= now + injection_latency_;
  }
  /// A request on its way, for the caller to fill in before the next one.
  struct Place {
    MemoryRequest& request;  ///< request, default-constructed
    std::byte* payload;
  };
  Place send(Destination destination, std::size_t payload_bytes, Time now, Outbox& outbox) {
    const Lane& lane = lane_of(destination);
    if (lane.credits > 0 && lane.first == none) [[likely]]
      return transmit(destination, payload_bytes, now, outbox);
    return enqueue(destination, payload_bytes);
  }
  /// Tells the host something that is no request. The message leaves behind earlier ones and needs
  /// no credit.
  template <class Body>
  void tell_host(MessageKind kind, const Body& body, std::span<const std::byte> payload, Time now,
                 Outbox& outbox) {
    free_ = std::max(now + injection_latency_, free_);
    outbox.send(link_to(Destination::host()), free_, kind_of(kind), body, payload);
  }
  /// An answer from `destination` has come.
  void credit(Destination destination, Time now, Outbox& outbox) {
    Lane& lane = lane_of(destination);
    ++lane.credits;
    --unanswered_;
    if (lane.first != none) [[unlikely]]
      dequeue(destination, now, outbox);
  }

  std::uint32_t queued() const { return queued_; }
  /// Returns whether a request that has left has no answer yet.  A request that waits for a credit
  /// stands behind such ones.
  bool awaits_answers() const { return unanswered_ > 0; }
  std::uint64_t wait_femtoseconds() const { return waited_; }
  /// Returns a text such as "17 requests wait for partition[3], which holds all 8 credits", or "".
  std::string waiting_for() const;

  void serialize(Archive& archive);

 private:
  static constexpr std::uint16_t none = 0xffff;
  /// Small: a window touches most of an SM's.
  struct Lane {
    std::uint16_t credits = 0;
    std::uint16_t first = none, last = none;
  };
  /// A request in the queue, in one line of this computer's memory, with its payload.
  struct alignas(64) Queued {
    MemoryRequest request;
    std::unique_ptr<std::byte[]> payload;
    std::uint32_t payload_bytes = 0, payload_room = 0;
    std::uint16_t next = none;

    void resize_payload(std::uint32_t bytes);
  };

  struct Kind {
    Destination::Kind kind;
    std::string name;
    std::uint16_t count;
  };

  Lane& lane_of(Destination destination) {
    return lanes_[first_[number_of(destination.kind)] + destination.index];
  }
  const Lane& lane_of(Destination destination) const {
    return lanes_[first_[number_of(destination.kind)] + destination.index];
  }
  /// Returns the link, valid until the next call.
  Link& link_to(Destination destination) {
    return trunks_[number_of(destination.kind)][destination.index];
  }
  static constexpr std::size_t number_of(Destination::Kind kind) {
    return static_cast<std::size_t>(kind);
  }

  Place transmit(Destination destination, std::size_t payload_bytes, Time now, Outbox& outbox) {
    --lane_of(destination).credits;
    ++unanswered_;
    const Time ready = now + injection_latency_;
    const Time departure = std::max(ready, free_);
    waited_ += static_cast<std::uint64_t>((departure - ready).femtoseconds());
    free_ = departure + flit_ * noc_.flits(static_cast<std::uint32_t>(payload_bytes));
    std::byte* payload =
        outbox.reserve(link_to(destination), departure, kind_of(MessageKind::memory_request),
                       blank_body<MemoryRequest>, payload_bytes);
    return {body_before<MemoryRequest>(payload), payload};
  }
  Place enqueue(Destination destination, std::size_t payload_bytes);
  void dequeue(Destination destination, Time now, Outbox& outbox);

  NocParameters noc_;
  Time flit_, injection_latency_;
  std::uint32_t queue_limit_ = 0;

  std::array<std::uint16_t, most_destination_kinds> first_{};  ///< first lane of each kind
  std::vector<Lane> lanes_;                                    ///< lanes, kind after kind
  std::array<Trunk, most_destination_kinds> trunks_;  ///< packets of one kind leave in one order
  std::vector<Queued> pool_;
  std::vector<std::uint16_t> unused_;
  std::uint32_t queued_ = 0;
  std::uint32_t unanswered_ = 0;  ///< credits taken from all lanes; checkpoints leave it out
  Time free_ = Time::zero();
  std::uint64_t waited_ = 0;
  std::vector<Kind> kinds_;
};

}  // namespace lockstep
