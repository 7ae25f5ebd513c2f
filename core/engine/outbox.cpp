#include "core/engine/outbox.hpp"

#include <algorithm>
#include <new>

namespace lockstep {

void ByteBuffer::grow(std::size_t size) {
  const std::size_t capacity = std::max({capacity_ * 2, size_ + size, std::size_t{64}});
  // On cache lines of its own; not value-initialised, every byte is written before it is read.
  Memory larger(static_cast<std::byte*>(::operator new (capacity, std::align_val_t{64})));
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace lockstep
