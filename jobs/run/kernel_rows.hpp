#pragma once

#include <vector>

#include "jobs/observe/gpus_of_run.hpp"
#include "jobs/observe/kernel_metrics.hpp"
#include "models/host/kernel_log.hpp"

namespace lockstep {

/// Makes rows of /kernels.
class KernelRows {
 public:
  /// `configuration`: the resolved scenario.
  explicit KernelRows(const Node& configuration);

  /// Returns rows of kernels.  `now`: time up to which kernels that are not done have run.
  std::vector<KernelRow> of(const std::vector<KernelRecord>& kernels, Time now) const;

 private:
  struct OfGpu {
    Clock clock;
    KernelMetrics metrics;
  };

  const GpusOfRun gpus_;
  std::vector<OfGpu> of_gpu_;  ///< one entry per GPU
};

}  // namespace lockstep
