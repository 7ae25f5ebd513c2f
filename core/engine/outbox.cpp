#include "core/engine/outbox.hpp"

#include <algorithm>

namespace lockstep {

void ByteBuffer::grow(std::size_t size) {
  const std::size_t capacity = std::max({capacity_ * 2, size_ + size, std::size_t{64}});
  // Not value-initialised: every byte is written before it is read.
  std::unique_ptr<std::byte[]> larger(new std::byte[capacity]);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace lockstep
