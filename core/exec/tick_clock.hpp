#pragma once

#include <chrono>
#include <cstdint>

namespace lockstep {

/// Returns wall-clock ticks, which take about ten nanoseconds to read; their length is measured.
/// They are for measuring only: nothing simulated may depend on them.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Returns ticks as ticks() does, but only after all earlier instructions are done.  It is meant
/// for short stretches, where instructions still in the processor would count for the wrong one.
inline std::uint64_t ordered_ticks() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#endif
  return ticks();
}

/// Returns the average distance of two consecutive calls of ordered_ticks(): clocks may count in
/// steps of that length.
double measure_ordered_ticks_cost();

/// Ticks per nanosecond, measured over a fraction of a millisecond.
double measure_ticks_per_nanosecond();

}  // namespace lockstep
