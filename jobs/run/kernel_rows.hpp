#pragma once

#include <vector>

#include "jobs/observe/kernel_metrics.hpp"
#include "models/host/kernel_log.hpp"

namespace lockstep {

/// Makes rows of /kernels.
class KernelRows {
 public:
  /// `configuration`: the resolved scenario.
  explicit KernelRows(const Node& configuration);

  /// `now`: until then those have run that are not done.
  std::vector<KernelRow> of(const std::vector<KernelRecord>& kernels, Time now) const;

 private:
  const Clock clock_;
  const KernelMetrics metrics_;
};

}  // namespace lockstep
