#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "jobs/observe/observed_run.hpp"

namespace lockstep {

/// A number derived from counters: their sum over another sum, or over the cycles or seconds that
/// passed.  jobs/analysis/lockstep_analysis/metrics.json lists all metrics, for all programs.
struct Metric {
  using Sum = std::vector<std::pair<std::string, std::uint64_t>>;  ///< counter, and weight
  enum class Per : std::uint8_t { denominator, cycle, second };

  std::string name, title, short_title, unit;
  Sum numerator, denominator;
  Per per = Per::denominator;
  std::string column = {};  ///< column of /tenants with the metric over a tenant's own time; "":
                            ///< none
  std::string kernel = {};  ///< column of /kernels with the metric over kernel time; "": none
  std::string denominator_times = {};  ///< key of the configuration; "": none

  /// Returns the number at the key `denominator_times`.
  std::uint64_t factor(const Node& configuration) const;
  /// Returns a value below its short title: ratios in percent, bytes in GB; "-" for NaN.
  std::string short_text(double value) const;
};

const std::vector<Metric>& metrics();
/// Returns the columns of /kernels that count the same as a counter.
const std::vector<std::string>& kernel_columns_of(const std::string& counter);
/// Returns the quotient; NaN where the divisor is zero.
double quotient(std::uint64_t numerator, double divisor);

/// A metric in some epochs of a run, by tenant.  Integers are summed exactly and divided once.
class MetricSeries {
 public:
  MetricSeries(const ObservedRun& run, const Metric& metric, EpochRange epochs);

  std::size_t epochs() const { return epochs_; }
  /// Returns the value; NaN where the divisor is zero.
  double at(std::size_t epoch, std::size_t tenant) const;
  /// Returns the metric over all its epochs together.
  double of_all(std::size_t tenant) const;

 private:
  double divide(std::size_t tenant, std::uint64_t numerator, std::uint64_t denominator,
                std::int64_t elapsed) const;

  const Metric& metric_;
  struct OfTenant {
    double core_hertz;
    std::uint64_t denominator_times;
  };
  std::vector<OfTenant> of_tenant_;
  const std::size_t tenants_, epochs_;
  std::vector<std::uint64_t> numerators_, denominators_;  ///< values by epoch and tenant
  std::vector<std::int64_t> elapsed_;                     ///< time of each epoch, fs
};

/// Returns the metric of a whole run by tenant: `series` has all of its epochs.  If /tenants has
/// the metric, the value covers the tenant's own time.
std::vector<double> of_whole_run(const ObservedRun& run, const Metric& metric,
                                 const MetricSeries& series);

}  // namespace lockstep
