#pragma once

#include <cstddef>

#include "core/memory/cache_aligned.hpp"

namespace lockstep {

/// Whether this computer does all prefetches that it is asked for, however many are under way.
/// Others drop about half of them then.
extern const bool keeps_prefetches;

/// Reads a byte and drops it, so that its cache line of this computer is near when it is used.
///
/// Several lines at once come many times as fast as lines one after the other.  Best for memory of
/// many pages, such as the simulated GPU's, whose translations prefetches do not wait for.
inline void warm_by_reading(const void* at) {
  asm volatile("" : : "r"(*static_cast<const volatile char*>(at)));
}

/// Brings a cache line of this computer near, which will surely be used.  Where all prefetches are
/// done, they are better than reads: nothing behind them waits.
inline void warm(const void* at) {
  if (keeps_prefetches) {
    __builtin_prefetch(at);
  } else {
    warm_by_reading(at);
  }
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

/// Calls action(at) for each cache line of [begin, begin + bytes).
template <class Action>
void for_each_cache_line(const void* begin, std::size_t bytes, Action&& action) {
  const char* at = static_cast<const char*>(begin);
  for (const char* end = at + bytes; at < end; at += cache_line_bytes) action(at);
}

/// Brings the lines of [begin, begin + bytes) into the cache.
inline void warm(const void* begin, std::size_t bytes) {
  for_each_cache_line(begin, bytes, [](const char* at) { warm(at); });
}
inline void warm_by_reading(const void* begin, std::size_t bytes) {
  for_each_cache_line(begin, bytes, [](const char* at) { warm_by_reading(at); });
}

}  // namespace lockstep
