#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace lockstep {

/// Allocates memory of zeros.  Memory that is fresh from the system is zero already, and takes no
/// place before its first use.
template <class T>
struct ZeroedAllocator {
  using value_type = T;
  ZeroedAllocator() = default;
  template <class U>
  ZeroedAllocator(const ZeroedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    void* const place = std::calloc(count, sizeof(T));
    if (place == nullptr) throw std::bad_alloc();
    return static_cast<T*>(place);
  }
  void deallocate(T* place, std::size_t) { std::free(place); }
  /// A new element without a value is zero as it is.
  template <class U>
  void construct(U*) {}
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    new (place) U(static_cast<Values&&>(values)...);
  }
  bool operator==(const ZeroedAllocator&) const = default;
};

/// Plain data that are zero at first.  It must not shrink: elements that come again would keep what
/// they held.
template <class T>
using ZeroedVector = std::vector<T, ZeroedAllocator<T>>;

}  // namespace lockstep
