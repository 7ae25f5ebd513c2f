#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/message_buffer.hpp"
#include "core/message/message.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A message with what orders it: (arrival, link, sequence).  Time alone is not enough: two SMs may
/// send to a partition so that both messages arrive in one cycle, and which of them was copied
/// first depends on threads and ranks.
struct InboxEntry {
  Time arrival;
  std::uint64_t order;  ///< as in MessagePlace
  const MessageHeader* message;

  static InboxEntry of(const MessagePlace& place, const std::byte* data) {
    return {place.arrival, place.order,
            reinterpret_cast<const MessageHeader*>(data + place.offset)};
  }
  friend bool operator<(const InboxEntry& a, const InboxEntry& b) {
    return a.arrival != b.arrival ? a.arrival < b.arrival : a.order < b.order;
  }
};

/// Messages of one component whose time has not come: copies, in no particular order.
class PendingMessages {
 public:
  Time earliest() const { return earliest_; }
  bool empty() const { return waiting_.empty(); }
  /// Copies messages that stand one behind the other in `data`.
  void keep(const std::byte* data, std::span<const MessagePlace> messages);
  /// Appends those that arrive before `horizon`.  The messages stay in place until the next keep().
  void take_before(Time horizon, std::vector<InboxEntry>& taken);
  /// All of them, sorted.
  std::vector<InboxEntry> sorted() const;

 private:
  void compact();

  Time earliest_ = Time::never();
  MessagePlaces waiting_;
  ByteBuffer bytes_;
  std::size_t live_ = 0;  ///< bytes still waiting
};

/// Makes the sorted inbox of one component after the other; scratch memory of a thread.
class InboxBuilder {
 public:
  /// What arrives before `horizon`, from `pending` and from the buffers in `mail`; what arrives
  /// later is added to `pending`.  Nothing in `mail` may arrive before `reached`, where the
  /// component stands.  The result is good until the next call.
  Inbox build(PendingMessages& pending, std::span<const OpenedBuffer> mail, Time horizon,
              Time reached);

 private:
  void sort(Time reached);

  std::vector<InboxEntry> entries_, scattered_;
  std::vector<const MessageHeader*> sorted_;
};

}  // namespace lockstep
