#include "models/reference/buffer_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// The operating system provides zeros in pages of its own; pieces only say where to look.
constexpr std::uint64_t zero_piece_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t content_piece_bytes = std::uint64_t{16} << 10;

}  // namespace

BufferBytes::BufferBytes(std::uint64_t bytes, std::shared_ptr<const Content> content)
    : size_(bytes),
      piece_bytes_(content ? content_piece_bytes : zero_piece_bytes),
      content_(std::move(content)),
      memory_(bytes),
      touched_((bytes + piece_bytes_ - 1) / piece_bytes_),
      untouched_(touched_.size()) {}

BufferBytes::Pieces BufferBytes::pieces(std::uint64_t offset, std::uint64_t bytes) const {
  LOCKSTEP_CHECK(offset <= size_ && bytes <= size_ - offset, "access past the end of a buffer");
  return {offset / piece_bytes_, (offset + bytes + piece_bytes_ - 1) / piece_bytes_};
}

std::span<std::byte> BufferBytes::piece(std::uint64_t number) const {
  const std::uint64_t begin = number * piece_bytes_;
  return {memory_.data() + begin, std::min(piece_bytes_, size_ - begin)};
}

std::span<std::byte> BufferBytes::at(std::uint64_t offset, std::uint64_t bytes) {
  const auto [first, end] = pieces(offset, bytes);
  for (std::uint64_t number = first; number < end && untouched_ > 0; ++number) {
    if (touched_[number]) continue;
    touched_[number] = true;
    --untouched_;
    if (content_) content_->read(number * piece_bytes_, piece(number));
  }
  return {memory_.data() + offset, bytes};
}

std::span<std::byte> BufferBytes::around(std::uint64_t offset, std::uint64_t bytes) {
  if (untouched_ > 0) at(offset, bytes);
  if (untouched_ == 0) return {memory_.data(), size_};
  const auto [first, end] = pieces(offset, bytes);
  const std::uint64_t begin = first * piece_bytes_;
  return {memory_.data() + begin, std::min(end * piece_bytes_, size_) - begin};
}

void BufferBytes::assign(const BufferBytes& other, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t last = offset + bytes;
  for (std::uint64_t begin = offset, end = 0; begin < last; begin = end) {
    end = std::min(last, (begin / content_piece_bytes + 1) * content_piece_bytes);
    const std::uint64_t count = end - begin;
    const bool brings_zeros = other.known(begin, count) == Known::zeros;
    if (brings_zeros && known(begin, count) == Known::zeros) continue;
    const std::span<std::byte> to = at(begin, count);
    if (brings_zeros) {
      memory_.zero(begin, count);
      continue;
    }
    const std::span<const std::byte> from = other.look(begin, to);
    if (from.data() != to.data()) std::memcpy(to.data(), from.data(), count);
  }
}

Known BufferBytes::known(std::uint64_t offset, std::uint64_t bytes) const {
  const auto [first, end] = pieces(offset, bytes);
  for (std::uint64_t number = first; number < end; ++number)
    if (touched_[number]) return Known::nothing;
  return content_ ? Known::initial : Known::zeros;
}

std::span<const std::byte> BufferBytes::look(std::uint64_t offset,
                                             std::span<std::byte> scratch) const {
  const auto [first, end] = pieces(offset, scratch.size());
  bool all = true;
  for (std::uint64_t number = first; number < end; ++number) all = all && touched_[number];
  if (all) return {memory_.data() + offset, scratch.size()};
  for (std::uint64_t done = 0; done < scratch.size();) {
    const std::uint64_t here = offset + done, number = here / piece_bytes_;
    const std::uint64_t count = std::min((number + 1) * piece_bytes_ - here, scratch.size() - done);
    const std::span<std::byte> to = scratch.subspan(done, count);
    if (touched_[number]) {
      std::memcpy(to.data(), memory_.data() + here, count);
    } else if (content_) {
      content_->read(here, to);
    } else {
      std::memset(to.data(), 0, count);
    }
    done += count;
  }
  return scratch;
}

std::vector<std::byte> BufferBytes::copy() const {
  std::vector<std::byte> bytes(size_);
  const std::span<const std::byte> found = look(0, bytes);
  if (found.data() != bytes.data()) std::copy(found.begin(), found.end(), bytes.begin());
  return bytes;
}

}  // namespace lockstep
