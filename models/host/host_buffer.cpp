#include "models/host/host_buffer.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

HostBuffer::HostBuffer(std::uint64_t bytes, std::shared_ptr<const Content> content)
    : size_(bytes),
      content_(std::move(content)),
      memory_(bytes),
      touched_((bytes + page_size - 1) / page_size) {}

std::uint64_t HostBuffer::page_bytes_at(std::size_t page) const {
  return std::min(page_size, size_ - page * page_size);
}

std::span<std::byte> HostBuffer::at(std::uint64_t offset, std::uint64_t size) {
  LOCKSTEP_CHECK(offset + size <= size_, "access past the end of a host buffer");
  for (std::uint64_t page = offset / page_size; page * page_size < offset + size; ++page) {
    if (touched_[page]) continue;
    touched_[page] = 1;
    if (content_) {
      content_->read(page * page_size, {memory_.data() + page * page_size, page_bytes_at(page)});
    }
  }
  return {memory_.data() + offset, size};
}

}  // namespace lockstep
