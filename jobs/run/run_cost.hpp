#pragma once

#include <cstdint>

#include "core/engine/engine.hpp"

namespace lockstep {

/// Cost of a run over all its segments; a segment begins with the run and each time it is resumed.
struct RunCost {
  std::uint64_t segments = 0, windows = 0, exchanges = 0, peak_memory_bytes = 0;
  double wall_seconds = 0, synchronising_seconds = 0, waiting_seconds = 0;

  /// Returns the cost with that of a segment of this process added.
  RunCost with(const RunSummary& segment) const;

  double synchronisation_share() const { return share(synchronising_seconds); }
  double imbalance_share() const { return share(waiting_seconds); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(segments, windows, exchanges, peak_memory_bytes);
    archive(wall_seconds, synchronising_seconds, waiting_seconds);
  }

 private:
  double share(double seconds) const { return wall_seconds > 0 ? seconds / wall_seconds : 0; }
};

}  // namespace lockstep
