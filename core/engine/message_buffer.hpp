#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "core/engine/opened_buffers.hpp"

namespace lockstep {

/// Bytes back to back, 8-byte aligned pieces, less than 4 GiB; the memory is kept when cleared.
class ByteBuffer {
 public:
  /// Room for `size` bytes (a multiple of 8) at the end.
  std::byte* append(std::size_t size) {
    if (size_ + size > capacity_) grow(size);
    std::byte* place = data_.get() + size_;
    size_ += static_cast<std::uint32_t>(size);
    return place;
  }
  void clear() { size_ = 0; }
  /// Moves bytes to an earlier place; what stood there is lost.
  void move(std::size_t from, std::size_t to, std::size_t size) {
    if (from != to) std::memmove(data_.get() + to, data_.get() + from, size);
  }
  void shrink(std::size_t size) { size_ = static_cast<std::uint32_t>(size); }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  void grow(std::size_t size);

  AlignedBytes<cache_line_bytes> data_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

/// Messages for one destination component; reused window after window.
class alignas(64) MessageBuffer {
 public:
  /// For the engine: while this buffer holds messages it has an entry in `opened`, and `floor` is
  /// kept at or below every arrival.
  void watch(std::uint32_t place, OpenedBuffers* opened, Time* floor) {
    place_ = place;
    opened_ = opened;
    floor_ = floor;
  }

  /// Adds a message, whose body and payload are for the caller to fill; returns where they stand.
  std::byte* add(const MessageHeader& header) {
    const MessagePlace place =
        MessagePlace::of(header, static_cast<std::uint32_t>(bytes_.bytes().size()));
    std::byte* message = bytes_.append(place.size);
    std::memcpy(message, &header, sizeof header);
    places_.push_back(place);
    if (opened_) note(header.arrival);
    return message + sizeof header;
  }
  void clear() {
    bytes_.clear();
    places_.clear();
  }
  std::span<const std::byte> bytes() const { return bytes_.bytes(); }
  OpenedBuffer contents() const {
    return {bytes().data(), places_.data(), static_cast<std::uint32_t>(places_.size()), place_};
  }

 private:
  void note(Time arrival) {
    if (arrival < *floor_) *floor_ = arrival;
    if (places_.size() == 1) {
      entry_ = static_cast<std::uint32_t>(opened_->size());
      opened_->push_back(contents());
    } else {
      (*opened_)[entry_] = contents();
    }
  }

  ByteBuffer bytes_;
  MessagePlaces places_;
  OpenedBuffers* opened_ = nullptr;
  Time* floor_ = nullptr;
  std::uint32_t place_ = 0;
  std::uint32_t entry_ = 0;  ///< in opened_
};
static_assert(sizeof(MessageBuffer) == 64);

}  // namespace lockstep
