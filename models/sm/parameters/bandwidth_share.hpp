#pragma once

#include <cstdint>

#include "core/time/time.hpp"

namespace lockstep {

/// An SM's part of the peak bandwidth of GPU memory.
/// Source: 003, section 3.3.2; preemption.md, section 7.2.
struct BandwidthShare {
  std::uint64_t bytes_per_second = 0;

  Time time_of(std::uint64_t bytes) const {
    constexpr std::uint64_t picoseconds = 1'000'000'000'000;
    return Time{static_cast<std::int64_t>(bytes * picoseconds / bytes_per_second * 1000)};
  }
};

}  // namespace lockstep
