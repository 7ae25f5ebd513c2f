/// Messages on their way from one thread to another, laid out for the cores' caches.
///
/// A cache line that another core wrote takes long to come, and as long to be taken back.  So a
/// writer fills a few consecutive lines, which it can prefetch, and a reader prefetches all of them
/// at once: with scattered data, both would wait once per line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/engine/mail/byte_buffer.hpp"
#include "core/error/error.hpp"
#include "core/memory/cache_aligned.hpp"
#include "core/memory/warm.hpp"
#include "core/message/message.hpp"

namespace lockstep {

/// Place of a message in a log, and its keys of order: choosing and sorting touch no message.
struct MessagePlace {
  Time arrival;
  std::uint64_t order;   ///< key of order: link, then sequence
  std::uint32_t offset;  ///< offset of the message's header among the bytes
  std::uint32_t size;    ///< total_bytes()

  static MessagePlace of(const MessageHeader& message, std::uint32_t offset) {
    const std::uint64_t link = message.link.value();
    return {message.arrival, link << 32 | message.sequence, offset,
            static_cast<std::uint32_t>(message.total_bytes())};
  }
  LinkId link() const { return LinkId{static_cast<std::uint32_t>(order >> 32)}; }
};
using MessagePlaces = LineAlignedVector<MessagePlace>;

/// The messages of a log for one destination.  The first few are stored among those for other
/// destinations, in a shared stretch of memory; further ones are stored together, in memory of
/// their own.  One or two messages are described completely in the first line.
struct alignas(2 * cache_line_bytes) MailBundle {
  static constexpr std::uint32_t near = 4;

  std::uint32_t destination;  ///< key by which the engine finds it
  std::uint32_t count;
  const MessagePlace* further;  ///< places of the messages beyond the near ones
  MessagePlace first[near];
  const std::byte* further_bytes;  ///< memory in which the messages of `further` stand
};
static_assert(sizeof(MailBundle) == 2 * cache_line_bytes);

/// Copy of a bundle that the reader keeps, so that it need not read the writer's lines again.
struct Mail {
  const MailBundle* bundle;
  const MessagePlace* further;
  const std::byte* bytes;  ///< memory of the near messages
  std::uint32_t count;
  std::uint32_t destination;

  Mail(const MailBundle& from, const std::byte* near_bytes)
      : bundle(&from),
        further(from.further),
        bytes(near_bytes),
        count(from.count),
        destination(from.destination) {}

  /// Calls action(place, where its message stands) for the first `most`.
  template <class Action>
  void for_each(Action&& action, std::uint32_t most = ~0u) const {
    const std::uint32_t last = std::min(count, most);
    for (std::uint32_t i = 0; i < std::min(last, MailBundle::near); ++i)
      action(bundle->first[i], bytes + bundle->first[i].offset);
    for (std::uint32_t i = MailBundle::near; i < last; ++i) {
      const MessagePlace& place = further[i - MailBundle::near];
      action(place, bundle->further_bytes + place.offset);
    }
  }
};

class MessageLog;

/// State that senders keep about a destination.
struct MailTarget {
  MessageLog* log = nullptr;
  Time* floor = nullptr;  ///< time kept at or below every arrival
  std::uint32_t destination = 0;
  std::uint32_t bundle = 0;  ///< bundle that the destination had last
};

/// Messages from one thread to the components of one share, or of one rank; used again in each
/// window.
class alignas(sharing_bytes) MessageLog {
 public:
  /// Makes a log for at most `most` targets.
  explicit MessageLog(std::size_t most);

  /// Adds a message. Returns the place of its body and payload, which the caller fills.  The header
  /// stays in registers: a copy of one that was just written would wait until that is done.
  [[gnu::always_inline]] std::byte* add(MessageHeader header, MailTarget& target) {
    Head& head = *this->head();
    // A bundle of an earlier window is recognised by the destination in its place.
    if (target.bundle >= head.count || bundles()[target.bundle].destination != target.destination)
      open_bundle(target);
    MailBundle& bundle = bundles()[target.bundle];
    const MessagePlace place = MessagePlace::of(header, 0);
    std::byte* message = bundle.count < MailBundle::near
                             ? add_near(bundle, place)
                             : add_further(target.bundle, place.arrival, place.order, place.size);
    ++bundle.count;
    header.store(message);
    if (header.arrival < *target.floor) *target.floor = header.arrival;
    return message + sizeof header;
  }

  /// Returns the window in which the log was filled. Every window begins without messages.
  std::uint64_t window() const { return head()->window; }
  void reuse(std::uint64_t window);

  std::size_t size() const { return head()->count; }
  Mail operator[](std::size_t i) const { return {bundles()[i], head()->bytes}; }

  /// Prefetches the begin of the log, then the rest: a reader has many logs.
  void fetch_head() const {
    __builtin_prefetch(memory_.get());
    fetch_bundles(0, ahead);
  }
  void fetch_bundles() const { fetch_bundles(ahead, size()); }
  /// Prepares the head's line for reuse().
  void warm_head_to_write() const { warm_to_write(memory_.get()); }

 private:
  /// Number of bundles that a reader prefetches before it knows whether they are needed.
  static constexpr std::size_t ahead = 8;
  /// Distance, in bundles, between the bundle being written and the one prefetched for writing.
  static constexpr std::size_t write_ahead = 4;

  struct alignas(MailBundle) Head {
    std::uint64_t window = 0;
    const std::byte* bytes = nullptr;
    std::size_t count = 0;
  };
  struct Further {
    MessagePlaces places;
    ByteBuffer bytes;
  };

  Head* head() const { return reinterpret_cast<Head*>(memory_.get()); }
  MailBundle* bundles() const {
    return reinterpret_cast<MailBundle*>(memory_.get() + sizeof(Head));
  }
  void fetch_bundles(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) __builtin_prefetch(bundles() + i);
  }
  void open_bundle(MailTarget& target) {
    LOCKSTEP_CHECK(head()->count < further_.size(), "more bundles than targets");
    target.bundle = static_cast<std::uint32_t>(head()->count++);
    MailBundle& bundle = bundles()[target.bundle];
    warm_to_write(&bundle + write_ahead);
    bundle.destination = target.destination;
    bundle.count = 0;
    bundle.further = nullptr;
  }
  /// Adds to the near messages. `place`: its place but for the offset.
  std::byte* add_near(MailBundle& bundle, MessagePlace place) {
    place.offset = static_cast<std::uint32_t>(bytes_.bytes().size());
    bundle.first[bundle.count] = place;
    std::byte* message = bytes_.append(place.size);
    for (std::size_t at = 0; at < place.size; at += cache_line_bytes)
      warm_to_write(message + at + ByteBuffer::margin);
    head()->bytes = bytes_.bytes().data();
    return message;
  }
  std::byte* add_further(std::uint32_t bundle, Time arrival, std::uint64_t order,
                         std::uint32_t size);

  AlignedBytes<sharing_bytes> memory_;  ///< a head, then bundles in the order of their opening
  // Not on the line of `memory_`, which readers keep.
  alignas(cache_line_bytes) ByteBuffer bytes_;  ///< bytes of the near messages
  LineAlignedVector<Further> further_;          ///< further messages of each bundle
  std::size_t crowded_ = 0;  ///< number of bundles that may have further messages
};

}  // namespace lockstep
