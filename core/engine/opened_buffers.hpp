#pragma once

#include <cstdint>
#include <new>
#include <span>

#include "core/exec/cache_aligned.hpp"
#include "core/message/message.hpp"

namespace lockstep {

/// Where a message stands in a buffer, and what orders it: choosing and sorting touch no message.
struct MessagePlace {
  Time arrival;
  std::uint64_t order;   ///< link, then sequence
  std::uint32_t offset;  ///< of its header in the buffer
  std::uint32_t size;    ///< total_bytes()

  static MessagePlace of(const MessageHeader& message, std::uint32_t offset) {
    const std::uint64_t link = message.link.value();
    return {message.arrival, link << 32 | message.sequence, offset,
            static_cast<std::uint32_t>(message.total_bytes())};
  }
  LinkId link() const { return LinkId{static_cast<std::uint32_t>(order >> 32)}; }
};
using MessagePlaces = LineAlignedVector<MessagePlace>;

/// The messages of one buffer as their reader sees them: it may run on another core, where every
/// cache line that it does not have to look at counts.
struct OpenedBuffer {
  const std::byte* data;
  const MessagePlace* first;
  std::uint32_t count;
  std::uint32_t place;  ///< what the engine uses to find the destination

  std::span<const MessagePlace> places() const { return {first, count}; }
  const MessageHeader& message(const MessagePlace& at) const {
    return *reinterpret_cast<const MessageHeader*>(data + at.offset);
  }
  std::span<const std::byte> bytes() const {
    return {data, count == 0 ? 0 : first[count - 1].offset + first[count - 1].size};
  }
};

/// The buffers of one writer that hold messages for one reader, in one stretch of memory that
/// stays where it is: a reader on another core can ask for all of it at once.
class OpenedBuffers {
 public:
  /// Room for `most` buffers.
  explicit OpenedBuffers(std::size_t most)
      : memory_(aligned_bytes<sharing_bytes>(sizeof(Head) + most * sizeof(OpenedBuffer))) {
    new (memory_.get()) Head;
  }

  std::size_t size() const { return head().size; }
  OpenedBuffer& operator[](std::size_t i) { return entries()[i]; }
  const OpenedBuffer* begin() const { return entries(); }
  const OpenedBuffer* end() const { return entries() + head().size; }
  void push_back(const OpenedBuffer& buffer) { entries()[head().size++] = buffer; }

  /// The window in which it was filled; every window begins without entries.
  std::uint64_t window() const { return head().window; }
  void reuse(std::uint64_t window) { head() = {window, 0}; }

  /// Asks for its beginning, then for the rest: a reader has many.
  void fetch_head() const { __builtin_prefetch(memory_.get()); }
  void fetch_entries() const {
    const std::size_t bytes = sizeof(Head) + size() * sizeof(OpenedBuffer);
    for (std::size_t at = cache_line_bytes; at < bytes; at += cache_line_bytes)
      __builtin_prefetch(memory_.get() + at);
  }

 private:
  struct Head {
    std::uint64_t window = 0, size = 0;
  };

  Head& head() const { return *reinterpret_cast<Head*>(memory_.get()); }
  OpenedBuffer* entries() const {
    return reinterpret_cast<OpenedBuffer*>(memory_.get() + sizeof(Head));
  }

  AlignedBytes<sharing_bytes> memory_;
};

}  // namespace lockstep
