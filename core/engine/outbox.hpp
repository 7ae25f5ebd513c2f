#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "core/error/error.hpp"
#include "core/exec/cache_aligned.hpp"
#include "core/message/message.hpp"

namespace lockstep {

/// Bytes back to back, 8-byte aligned pieces; the memory is kept when cleared.
class ByteBuffer {
 public:
  /// Room for `size` bytes (a multiple of 8) at the end.
  std::byte* append(std::size_t size) {
    if (size_ + size > capacity_) grow(size);
    std::byte* place = data_.get() + size_;
    size_ += size;
    return place;
  }
  void clear() { size_ = 0; }
  /// Moves bytes to an earlier place; what stood there is lost.
  void move(std::size_t from, std::size_t to, std::size_t size) {
    if (from != to) std::memmove(data_.get() + to, data_.get() + from, size);
  }
  void shrink(std::size_t size) { size_ = size; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  void grow(std::size_t size);

  struct Release {
    void operator()(std::byte* data) const { ::operator delete (data, std::align_val_t{64}); }
  };
  using Memory = std::unique_ptr<std::byte, Release>;

  Memory data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The messages of one buffer as their reader sees them: it may run on another core, where every
/// cache line that it does not have to look at counts.
struct OpenedBuffer {
  const std::byte* data;
  std::uint32_t size;
  std::uint32_t place;  ///< what the engine uses to find the destination

  std::span<const std::byte> bytes() const { return {data, size}; }
};
using OpenedBuffers = CacheAlignedVector<OpenedBuffer>;

/// Messages for one destination component; reused window after window.
class alignas(64) MessageBuffer : public ByteBuffer {
 public:
  /// For the engine: while this buffer holds messages it has an entry in `opened`, and `floor` is
  /// kept at or below every arrival.
  void watch(std::uint32_t place, OpenedBuffers* opened, Time* floor) {
    place_ = place;
    opened_ = opened;
    floor_ = floor;
  }

  /// Room for a message of `size` bytes that arrives at `arrival`.
  std::byte* add_message(Time arrival, std::size_t size) {
    if (!opened_) return append(size);
    if (arrival < *floor_) *floor_ = arrival;
    if (empty()) {
      entry_ = static_cast<std::uint32_t>(opened_->size());
      opened_->push_back({nullptr, 0, place_});
    }
    std::byte* place = append(size);
    OpenedBuffer& entry = (*opened_)[entry_];
    entry.data = bytes().data();
    entry.size = static_cast<std::uint32_t>(bytes().size());
    return place;
  }

 private:
  OpenedBuffers* opened_ = nullptr;
  Time* floor_ = nullptr;
  std::uint32_t place_ = 0;
  std::uint32_t entry_ = 0;
};

/// Where the components of one worker put what they send in a window.
class Outbox {
 public:
  /// Sends `body` and `payload` at `departure`; it arrives `link.latency()` later.
  template <class Body>
  void send(Link& link, Time departure, std::uint16_t kind, const Body& body,
            std::span<const std::byte> payload = {}) {
    std::byte* place = reserve(link, departure, kind, body, payload.size());
    if (!payload.empty()) std::memcpy(place, payload.data(), payload.size());
  }

  /// As send, but returns the place of `payload_bytes` bytes for the caller to fill (before the
  /// next send).
  template <class Body>
  std::byte* reserve(Link& link, Time departure, std::uint16_t kind, const Body& body,
                     std::size_t payload_bytes) {
    static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) % 8 == 0);
    std::byte* place = open(link, departure, kind, sizeof(Body), payload_bytes);
    std::memcpy(place, &body, sizeof(Body));
    return place + sizeof(Body);
  }

  /// `targets[c]` is the buffer of component c (of its rank, if it lives elsewhere); set by the
  /// engine, which also says where the current window ends.
  void attach(std::vector<MessageBuffer*> targets) { targets_ = std::move(targets); }

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
    std::byte* place =
        targets_[link.destination_.value()]->add_message(header.arrival, header.total_bytes());
    std::memcpy(place, &header, sizeof header);
    return place + sizeof header;
  }

  std::vector<MessageBuffer*> targets_;
};

}  // namespace lockstep
