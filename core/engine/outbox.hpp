#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/link.hpp"
#include "core/engine/mail/message_log.hpp"
#include "core/error/error.hpp"
#include "core/message/message.hpp"

namespace lockstep {

/// Messages that the components of one worker send in a window.
class Outbox {
 public:
  /// Sends `body` and `payload` at `departure`; it arrives `link.latency()` later.
  template <class Body>
  void send(Link& link, Time departure, std::uint16_t kind, const Body& body,
            std::span<const std::byte> payload = {}) {
    std::byte* place = reserve(link, departure, kind, body, payload.size());
    if (!payload.empty()) std::memcpy(place, payload.data(), payload.size());
  }

  /// Sends as send() does, but returns the place of `payload_bytes` bytes, which the caller fills
  /// before the next send.
  template <class Body>
  std::byte* reserve(Link& link, Time departure, std::uint16_t kind, const Body& body,
                     std::size_t payload_bytes) {
    static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) % 8 == 0);
    std::byte* place = open(link, departure, kind, sizeof(Body), payload_bytes);
    std::memcpy(place, &body, sizeof(Body));
    return place + sizeof(Body);
  }

  /// Reserves as reserve() does, for a message that is to depart later, in no order with the others
  /// of its link.  Precondition: `departure` is not in the past of the sender.
  template <class Body>
  std::byte* reserve_ahead(Link& link, Time departure, std::uint16_t kind, const Body& body,
                           std::size_t payload_bytes) {
    const Time last = std::exchange(link.last_departure_, departure);
    std::byte* place = reserve(link, departure, kind, body, payload_bytes);
    link.last_departure_ = last;
    return place;
  }

  /// Sets the target of messages to component c: `targets[c]`. Called by the engine.
  void attach(std::vector<MailTarget> targets) { targets_ = std::move(targets); }

 private:
  std::byte* open(Link& link, Time departure, std::uint16_t kind, std::size_t body_bytes,
                  std::size_t payload_bytes) {
    LOCKSTEP_CHECK(departure >= link.last_departure_, "departures on a link went back in time");
    link.last_departure_ = departure;
    MessageHeader header;
    header.arrival = departure + link.latency_;
    header.link = link.id_;
    header.sequence = link.sequence_++;
    header.kind = kind;
    header.body_bytes = static_cast<std::uint16_t>(body_bytes);
    header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    MailTarget& target = targets_[link.destination_.value()];
    return target.log->add(header, target);
  }

  std::vector<MailTarget> targets_;
};

}  // namespace lockstep
