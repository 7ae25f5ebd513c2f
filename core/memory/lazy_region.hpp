#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace lockstep {

/// A large zeroed piece of memory, whose pages the operating system commits when they are first
/// touched.
class LazyRegion {
 public:
  LazyRegion() = default;
  /// Throws UserError when the address space is exhausted.
  explicit LazyRegion(std::uint64_t bytes);
  ~LazyRegion();
  LazyRegion(LazyRegion&& other) noexcept { swap(other); }
  LazyRegion& operator=(LazyRegion&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  /// Makes [offset, offset + bytes) read as zero, giving whole pages back.
  void zero(std::uint64_t offset, std::uint64_t bytes);

 private:
  void swap(LazyRegion& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace lockstep
