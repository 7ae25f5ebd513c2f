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
  /// Begins the inbox of a component that stands at `reached`, up to `horizon`.
  void begin(Time reached, Time horizon);
  /// Takes new messages, none of which may arrive before `reached`; what arrives at `horizon` or
  /// later is added to `pending`.
  void add(const OpenedBuffer& mail, PendingMessages& pending);
  /// All that was added and, of `pending`, what arrives before `horizon`, in order.  Call it once,
  /// after the last add(), since that may move what is pending.  Good until the next begin().
  Inbox finish(PendingMessages& pending);

 private:
  void rank();

  Time reached_, horizon_;
  std::vector<InboxEntry> entries_;
  std::vector<const MessageHeader*> sorted_;
};

}  // namespace lockstep
