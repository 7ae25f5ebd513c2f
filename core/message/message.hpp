#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/id/id.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Header of a message on a link.  A trivially copyable body and an optional payload follow it,
/// contiguous in a buffer whose parts are 8-byte aligned.
struct MessageHeader {
  Time arrival;
  LinkId link;
  std::uint32_t sequence = 0;  ///< number of the message on its link
  std::uint16_t kind = 0;      ///< kind of the body, as the models number them
  std::uint16_t body_bytes = 0;
  std::uint32_t payload_bytes = 0;

  /// Returns the bytes of header, body and payload, rounded up to the alignment of the next
  /// message.
  std::size_t total_bytes() const {
    return (sizeof(MessageHeader) + body_bytes + payload_bytes + 7) & ~std::size_t{7};
  }
  template <class Body>
  const Body& body() const {
    return *reinterpret_cast<const Body*>(this + 1);
  }
  const std::byte* payload_data() const {
    return reinterpret_cast<const std::byte*>(this + 1) + body_bytes;
  }
  std::span<const std::byte> payload() const { return {payload_data(), payload_bytes}; }

  /// Stores the header word by word: a copy of one that was just made would have to wait until its
  /// members are written.
  void store(std::byte* place) const {
    auto& stored = *reinterpret_cast<MessageHeader*>(place);
    stored.arrival = arrival;
    stored.link = link;
    stored.sequence = sequence;
    stored.kind = kind;
    stored.body_bytes = body_bytes;
    stored.payload_bytes = payload_bytes;
  }

  /// The header alone.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrival, link, sequence, kind, body_bytes, payload_bytes);
  }
};
static_assert(std::is_trivially_copyable_v<MessageHeader> && sizeof(MessageHeader) == 24);

/// Messages for one component in the order (arrival, link, sequence).
using Inbox = std::span<const MessageHeader* const>;

}  // namespace lockstep
