#include "models/host/host_buffer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

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
    if (touched_[page]) {
      if (missing(page) != 0) [[unlikely]]
        complete(page);
      continue;
    }
    touched_[page] = 1;
    if (content_) {
      content_->read(page * page_size, {memory_.data() + page * page_size, page_bytes_at(page)});
    }
  }
  return {memory_.data() + offset, size};
}

std::span<std::byte> HostBuffer::overwrite(std::uint64_t offset, std::uint64_t size) {
  LOCKSTEP_CHECK(offset + size <= size_, "access past the end of a host buffer");
  const std::uint64_t page = offset / page_size;
  const bool is_line = size == line_size && offset % line_size == 0;
  if (!content_ || !is_line || page_bytes_at(page) < page_size) return at(offset, size);
  const std::uint32_t line = 1U << offset % page_size / line_size;
  if (!touched_[page]) {
    if (missing_.empty()) missing_.resize(touched_.size());
    touched_[page] = 1;
    missing_[page] = ~line;
  } else if (missing(page) != 0) {
    missing_[page] &= ~line;
  }
  return {memory_.data() + offset, size};
}

void HostBuffer::complete(std::size_t page) {
  if (missing_[page] == 0) return;
  std::array<std::byte, page_size> initial;
  content_->read(page * page_size, initial);
  for (std::uint32_t rest = std::exchange(missing_[page], 0); rest != 0; rest &= rest - 1) {
    const std::size_t at = line_size * static_cast<unsigned>(std::countr_zero(rest));
    std::memcpy(memory_.data() + page * page_size + at, initial.data() + at, line_size);
  }
}

void HostBuffer::copy(std::uint64_t offset, std::span<std::byte> to) const {
  std::memcpy(to.data(), memory_.data() + offset, to.size());
  const std::uint64_t page = offset / page_size;
  for (std::uint32_t rest = missing(page); rest != 0; rest &= rest - 1) {
    const std::uint64_t line =
        page * page_size + line_size * static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t begin = std::max(line, offset);
    const std::uint64_t end = std::min(line + line_size, offset + to.size());
    if (begin < end) content_->read(begin, to.subspan(begin - offset, end - begin));
  }
}

Known HostBuffer::known(std::uint64_t offset, std::uint64_t bytes) const {
  for (std::uint64_t page = offset / page_size; page * page_size < offset + bytes; ++page)
    if (touched_[page]) return Known::nothing;
  return content_ ? Known::initial : Known::zeros;
}

std::span<const std::byte> HostBuffer::look(std::uint64_t offset,
                                            std::span<std::byte> scratch) const {
  return look_through(*this, offset, scratch);
}

std::span<const std::byte> HostBuffer::look_through(const HostBuffer& upper, std::uint64_t offset,
                                                    std::span<std::byte> scratch) const {
  LOCKSTEP_CHECK(offset + scratch.size() <= size_, "a look past the end of a host buffer");
  for (std::uint64_t done = 0; done < scratch.size();) {
    const std::uint64_t here = offset + done, page = here / page_size;
    const std::uint64_t count = std::min((page + 1) * page_size - here, scratch.size() - done);
    const std::span<std::byte> to = scratch.subspan(done, count);
    const HostBuffer* const owner = upper.touched_[page] ? &upper : touched_[page] ? this : nullptr;
    if (owner) {
      owner->copy(here, to);
    } else if (content_) {
      content_->read(here, to);
    } else {
      std::memset(to.data(), 0, count);
    }
    done += count;
  }
  return scratch;
}

}  // namespace lockstep
