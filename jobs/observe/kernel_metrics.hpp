#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/parameters/node.hpp"
#include "jobs/observe/metric.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

/// Columns of /kernels that are metrics, computed from counting columns: of one launch, or of the
/// sum of several.
class KernelMetrics {
 public:
  /// `configuration`: the resolved scenario.
  explicit KernelMetrics(const Node& configuration);

  /// Computes the derived metrics of a row.
  void derive(KernelRow& row) const;

 private:
  using Sum = std::vector<std::pair<std::size_t, std::uint64_t>>;  ///< place in the row, and weight
  struct Derived {
    Metric::Per per;
    Sum numerator, denominator;
    std::uint64_t denominator_times;
    std::size_t place;
  };

  std::vector<Derived> derived_;
};

/// Returns a metric with a column in /kernels from the row.
double kernel_value(const KernelRow& row, const Metric& metric);

/// `row` becomes the sum of itself and another launch.
void add_launch(KernelRow& row, const KernelRow& launch);

}  // namespace lockstep
