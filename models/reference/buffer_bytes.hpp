#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/memory/lazy_region.hpp"
#include "models/workload/content/content.hpp"

namespace lockstep {

/// Bytes of a buffer, in pieces that take memory and get their initial content when they are first
/// touched.
class BufferBytes {
 public:
  BufferBytes() = default;
  BufferBytes(std::uint64_t bytes, std::shared_ptr<const Content> content);

  std::uint64_t size() const { return size_; }
  /// Returns all bytes, ready or not.
  std::span<std::byte> memory() const { return {memory_.data(), size_}; }
  /// Returns bytes [offset, offset + bytes), ready to read or write.
  std::span<std::byte> at(std::uint64_t offset, std::uint64_t bytes);
  /// Returns bytes [offset, offset + bytes) with the rest of their pieces, ready to read or write;
  /// all bytes when all were touched.
  std::span<std::byte> around(std::uint64_t offset, std::uint64_t bytes);
  /// Replaces the bytes of this range by those of `other` in it.
  void assign(const BufferBytes& other, std::uint64_t offset, std::uint64_t bytes);

  Known known(std::uint64_t offset, std::uint64_t bytes) const;
  /// Bytes [offset, offset + scratch.size()), where they stand or in `scratch`.
  std::span<const std::byte> look(std::uint64_t offset, std::span<std::byte> scratch) const;
  std::vector<std::byte> copy() const;

 private:
  struct Pieces {
    std::uint64_t first = 0, end = 0;
  };
  Pieces pieces(std::uint64_t offset, std::uint64_t bytes) const;
  std::span<std::byte> piece(std::uint64_t number) const;

  std::uint64_t size_ = 0, piece_bytes_ = 1;
  std::shared_ptr<const Content> content_;
  LazyRegion memory_;
  std::vector<bool> touched_;  ///< flag of each piece
  std::uint64_t untouched_ = 0;
};

}  // namespace lockstep
