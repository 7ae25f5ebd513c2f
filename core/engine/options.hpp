#pragma once

#include <cstdint>
#include <optional>

#include "core/engine/assignment.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Ways to choose windows. Every one ends in the same state; the others exist to prove that, and to
/// measure the gain of the distances.
enum class Pacing : std::uint8_t {
  horizons,       ///< as far as the shortest paths allow
  random_cuts,    ///< windows end at random times before that
  shortest_link,  ///< no look at the distances: no window is longer than the shortest link
  one_activity,   ///< the reference: one instant at a time, no look at the distances
};

struct EngineOptions {
  int threads = 1;
  Time epoch = Time{10'000'000'000};  ///< sampled every so often (10 us); never() for no epochs
  Time stop_at = Time::never();       ///< end here even if components are not finished
  double progress_seconds = 0.5;      ///< wall time between two calls of RunControl::progress
  bool profile = false;               ///< record the costs of components and the time of windows
  /// Ranks whose meetings a profile on one rank counts, as if its components were on them.
  std::optional<Assignment> apart = {};

  Pacing pacing = Pacing::horizons;
  bool shuffle = false;         ///< run the components of a window in random order
  std::uint64_t test_seed = 0;  ///< for random_cuts and shuffle
};

}  // namespace lockstep
