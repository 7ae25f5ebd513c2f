#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace lockstep {

/// Two cache lines: what one thread writes shares none with what another does, nor the neighbour
/// that hardware fetches along.
inline constexpr std::size_t sharing_bytes = 128;

/// Allocates whole multiples of sharing_bytes.
template <class T>
struct CacheAlignedAllocator {
  using value_type = T;
  CacheAlignedAllocator() = default;
  template <class U>
  CacheAlignedAllocator(const CacheAlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (padded(count), std::align_val_t{sharing_bytes}));
  }
  void deallocate(T* place, std::size_t) {
    ::operator delete (place, std::align_val_t{sharing_bytes});
  }
  bool operator==(const CacheAlignedAllocator&) const = default;

 private:
  static std::size_t padded(std::size_t count) {
    return (count * sizeof(T) + sharing_bytes - 1) / sharing_bytes * sharing_bytes;
  }
};

/// For what a thread writes often.
template <class T>
using CacheAlignedVector = std::vector<T, CacheAlignedAllocator<T>>;

}  // namespace lockstep
