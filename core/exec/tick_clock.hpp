#pragma once

#include <chrono>
#include <cstdint>

namespace lockstep {

/// Returns wall-clock ticks, which cost some ten nanoseconds to read; the length of a tick is
/// measured. Only for measuring: nothing simulated may depend on it.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Returns ticks as ticks() does, but not before all earlier instructions are done: for stretches
/// so short that instructions still under way in the processor would count with the wrong one.
inline std::uint64_t ordered_ticks() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#endif
  return ticks();
}

/// Returns the average distance of two calls of ordered_ticks() when nothing stands between them:
/// clocks may count in steps as long as that.
double measure_ordered_ticks_cost();

/// Ticks per nanosecond, measured over a fraction of a millisecond.
double measure_ticks_per_nanosecond();

}  // namespace lockstep
