#pragma once

#include <cstddef>

#include "core/memory/cache_aligned.hpp"

namespace lockstep {

/// Reads a byte and drops it, so that its cache line of this computer is near when it is used.
///
/// Several lines at once come many times as fast as lines one after the other.  A prefetch
/// instruction costs less, but computers drop about half of them when many are under way: it suits
/// one or two lines, or data that may not be used.
inline void warm(const void* at) {
  asm volatile("" : : "r"(*static_cast<const volatile char*>(at)));
}

/// Takes the cache line of `at` for writing: if another core has it, that takes as long as several
/// hundred instructions, and stores wait for each other.
inline void warm_to_write(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

/// Brings the lines of [begin, begin + bytes) into the cache.
inline void warm(const void* begin, std::size_t bytes) {
  const char* at = static_cast<const char*>(begin);
  for (const char* end = at + bytes; at < end; at += cache_line_bytes) warm(at);
}

}  // namespace lockstep
