#include "core/engine/mail/byte_buffer.hpp"

#include <algorithm>
#include <limits>

#include "core/error/error.hpp"

namespace lockstep {

void ByteBuffer::grow(std::size_t size) {
  const std::size_t needed = size_ + size;
  const std::size_t capacity = std::max({std::size_t{capacity_} * 2, needed, std::size_t{64}});
  LOCKSTEP_CHECK(capacity <= std::numeric_limits<std::uint32_t>::max(),
                 "4 GiB of messages in one window");
  // The bytes have cache lines of their own, and are not initialised: every byte is written before
  // it is read.
  AlignedBytes<cache_line_bytes> larger = aligned_bytes<cache_line_bytes>(capacity + margin);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = static_cast<std::uint32_t>(capacity);
}

}  // namespace lockstep
