#include "jobs/run/run_cost.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace lockstep {
namespace {

std::uint64_t peak_of_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

RunCost RunCost::with(const RunSummary& segment) const {
  RunCost sum = *this;
  sum.segments += 1;
  sum.windows += segment.windows;
  sum.exchanges += segment.exchanges;
  sum.wall_seconds += segment.wall_seconds;
  sum.synchronising_seconds += segment.synchronisation_share * segment.wall_seconds;
  sum.waiting_seconds += segment.imbalance_share * segment.wall_seconds;
  sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, peak_of_process());
  return sum;
}

}  // namespace lockstep
