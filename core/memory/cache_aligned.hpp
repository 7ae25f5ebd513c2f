#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "core/memory/round_up.hpp"

namespace lockstep {

inline constexpr std::size_t cache_line_bytes = 64;
/// Two cache lines: a neighbour that hardware fetches along is not shared either.
inline constexpr std::size_t sharing_bytes = 128;

/// Uninitialised bytes that begin at a multiple of `unit` and fill whole units.
template <std::size_t unit>
struct ReleaseAligned {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{unit}); }
};
template <std::size_t unit>
using AlignedBytes = std::unique_ptr<std::byte, ReleaseAligned<unit>>;
template <std::size_t unit>
AlignedBytes<unit> aligned_bytes(std::size_t size) {
  const std::size_t bytes = round_up(size, unit);
  return AlignedBytes<unit>(
      static_cast<std::byte*>(::operator new (bytes, std::align_val_t{unit})));
}

/// Allocates whole multiples of `unit` bytes, so that data of two threads never share a cache line.
template <class T, std::size_t unit>
struct CacheAlignedAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = CacheAlignedAllocator<U, unit>;
  };
  CacheAlignedAllocator() = default;
  template <class U>
  CacheAlignedAllocator(const CacheAlignedAllocator<U, unit>&) {}

  T* allocate(std::size_t count) {
    return reinterpret_cast<T*>(aligned_bytes<unit>(count * sizeof(T)).release());
  }
  void deallocate(T* place, std::size_t) {
    ReleaseAligned<unit>()(reinterpret_cast<std::byte*>(place));
  }
  bool operator==(const CacheAlignedAllocator&) const = default;
};

/// Allocator for data that one thread writes often.
template <class T>
using CacheAlignedVector = std::vector<T, CacheAlignedAllocator<T, sharing_bytes>>;
/// Allocator for many small objects, each written by one thread at a time.
template <class T>
using LineAlignedVector = std::vector<T, CacheAlignedAllocator<T, cache_line_bytes>>;

}  // namespace lockstep
