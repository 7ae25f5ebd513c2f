#pragma once

#include <cstddef>

#include "core/memory/cache_aligned.hpp"

namespace lockstep {

/// Reads a byte and drops it, so that its line of this computer's memory will be near when it is
/// used.
///
/// Lines brought together come many times as fast as lines waited for one by one.  A prefetch
/// instruction costs less, but computers drop about half of them when many are on their way: it is
/// for one or two lines, or for what may not be used after all.
inline void warm(const void* at) {
  asm volatile("" : : "r"(*static_cast<const volatile char*>(at)));
}

/// Asks for the line of `at` alone, to write it: if another core has it, that takes as long as
/// several hundred instructions, and stores come one after the other.
inline void warm_to_write(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

/// The lines of [begin, begin + bytes).
inline void warm(const void* begin, std::size_t bytes) {
  const char* at = static_cast<const char*>(begin);
  for (const char* end = at + bytes; at < end; at += cache_line_bytes) warm(at);
}

}  // namespace lockstep
