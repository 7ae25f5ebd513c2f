#pragma once

#include <cstdint>
#include <optional>

#include "core/engine/assignment.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Ways to choose windows. All end in the same state; the others prove that, and measure the gain
/// of the distances.
enum class Pacing : std::uint8_t {
  horizons,       ///< windows as long as the shortest paths allow
  random_cuts,    ///< as horizons, but windows end at random times before
  shortest_link,  ///< windows no longer than the shortest link, without a look at the distances
  one_activity,   ///< one instant at a time, without a look at the distances: the reference
};

struct EngineOptions {
  int threads = 1;
  Time epoch = Time{10'000'000'000};  ///< time between two samples (10 us); never() for no epochs
  Time stop_at = Time::never();  ///< time at which the run ends even if components are not finished
  double progress_seconds = 0.5;  ///< wall time between two calls of RunControl::progress
  bool profile = false;           ///< record the costs of components and the time of windows
  /// Ranks whose meetings a profile on one rank counts, as if its components were on them.
  std::optional<Assignment> apart = {};

  Pacing pacing = Pacing::horizons;
  bool shuffle = false;         ///< run the components of a window in random order
  std::uint64_t test_seed = 0;  ///< seed for random_cuts and shuffle
};

}  // namespace lockstep
