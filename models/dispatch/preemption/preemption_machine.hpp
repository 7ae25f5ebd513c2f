#pragma once

#include "core/time/time.hpp"

namespace lockstep {

/// What a preemption must know of the machine to estimate costs.
struct PreemptionMachine {
  Clock sm_clock{Frequency{1e9}};
  std::uint64_t bytes_per_second = 0;  ///< of GPU memory at its peak, for each SM

  /// A context over the SM's share of the memory bandwidth.
  /// Source: 003, section 3.3.2; preemption.md, section 7.2.
  Time switch_latency(std::uint64_t context_bytes) const {
    constexpr std::uint64_t picoseconds = 1'000'000'000'000;
    return Time{static_cast<std::int64_t>(context_bytes * picoseconds / bytes_per_second * 1000)};
  }
};

}  // namespace lockstep
