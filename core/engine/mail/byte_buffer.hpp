#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "core/memory/cache_aligned.hpp"

namespace lockstep {

/// Bytes back to back, 8-byte aligned pieces, less than 4 GiB; the memory is kept when cleared.
class ByteBuffer {
 public:
  /// Bytes behind the last piece that belong to the buffer, whatever its size: a writer may fetch
  /// them into the cache ahead.
  static constexpr std::size_t margin = 4 * cache_line_bytes;

  /// Adds room for `size` bytes (a multiple of 8) at the end.
  std::byte* append(std::size_t size) {
    if (size_ + size > capacity_) grow(size);
    std::byte* place = data_.get() + size_;
    size_ += static_cast<std::uint32_t>(size);
    return place;
  }
  void clear() { size_ = 0; }
  /// Moves bytes to an earlier place, whose old bytes are lost.
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

}  // namespace lockstep
