#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/mail/byte_buffer.hpp"
#include "core/engine/mail/message_log.hpp"
#include "core/engine/mail/ranking.hpp"
#include "core/message/message.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Messages of one component whose time has not come: copies, in no particular order.
class PendingMessages {
 public:
  Time earliest() const { return earliest_; }
  std::size_t size() const { return waiting_.size(); }
  /// Copies a message.
  void keep(MessagePlace place, const std::byte* message);
  /// Calls `action` with the messages that arrive before `horizon`, and removes them.  They stay in
  /// place until the next keep().
  template <class Action>
  void take_before(Time horizon, Action&& action);
  /// Returns all messages, sorted.
  std::vector<const MessageHeader*> sorted() const;

 private:
  void compact();

  Time earliest_ = Time::never();
  MessagePlaces waiting_;
  ByteBuffer bytes_;
  std::size_t live_ = 0;  ///< bytes still waiting
};

/// Makes the sorted inboxes of components, one after the other, in scratch memory of a thread.
/// Messages are sorted by (arrival, link, sequence).  Time alone is not enough: two SMs may send to
/// a partition so that both messages arrive in one cycle, and which of them was copied first
/// depends on threads and ranks.
class InboxBuilder {
 public:
  /// Begins the inbox of a component that stands at `reached`, up to `horizon`.
  void begin(Time reached, Time horizon);
  /// Takes new messages, which arrive at `reached` or later. Messages that arrive at `horizon` or
  /// later are added to `pending`.
  void add(const Mail& mail, PendingMessages& pending);
  /// Returns in order all added messages, and those of `pending` that arrive before `horizon`. Call
  /// it once, after the last add(), since it may move pending messages. The result is valid until
  /// the next begin().
  Inbox finish(PendingMessages& pending);

 private:
  /// Place of a message with its keys of order: sorting touches no message, which may be far away.
  struct Entry {
    Time arrival;
    std::uint64_t order;  ///< key of order, as in MessagePlace
    const MessageHeader* message;

    Entry() = default;
    Entry(const MessagePlace& place, const std::byte* at)
        : arrival(place.arrival),
          order(place.order),
          message(reinterpret_cast<const MessageHeader*>(at)) {}

    /// Compares without a branch, which would be hard to predict.
    friend bool operator<(const Entry& a, const Entry& b) {
      const int earlier = a.arrival < b.arrival, together = a.arrival == b.arrival;
      const int before = a.order < b.order;
      return (earlier | (together & before)) != 0;
    }
  };

  void make_room(std::size_t count) {
    if (count_ + count + ranked_at_once <= entries_.size()) return;
    entries_.resize(2 * (count_ + count + ranked_at_once));
    sorted_.resize(entries_.size());
  }
  void rank();

  Time reached_, horizon_;
  std::size_t count_ = 0;
  std::vector<Entry> entries_;  ///< only the first `count_` are in use
  std::vector<const MessageHeader*> sorted_;
  RankKeys keys_, ranks_, ordered_;
  const CountLesser count_lesser_ = lesser_counters().back();
};

}  // namespace lockstep
