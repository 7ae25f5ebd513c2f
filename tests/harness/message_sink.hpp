#pragma once

#include <span>
#include <vector>

#include "core/engine/outbox.hpp"
#include "core/message/message.hpp"

namespace lockstep {

/// Stands for the rest of the machine: takes what a component sends, and makes messages for it.
class MessageSink {
 public:
  explicit MessageSink(std::size_t components);
  ~MessageSink();

  Outbox& outbox() { return outbox_; }

  /// What was sent to a component since clear(), in the order of sending.
  std::vector<const MessageHeader*> to(std::size_t component) const;
  /// All that was sent, component by component.
  std::vector<const MessageHeader*> all() const;
  void clear();

 private:
  std::size_t components_;
  MessageLog log_;
  Time floor_ = Time::never();
  Outbox outbox_;
};

/// A message as a component receives it.
class IncomingMessage {
 public:
  template <class Body>
  IncomingMessage(Time arrival, std::uint16_t kind, const Body& body,
                  std::span<const std::byte> payload = {})
      : sink_(1) {
    Link link(LinkId{0}, ComponentId{0}, Time::zero());
    sink_.outbox().send(link, arrival, kind, body, payload);
  }
  const MessageHeader* get() const { return sink_.to(0).front(); }

 private:
  MessageSink sink_;
};

}  // namespace lockstep
