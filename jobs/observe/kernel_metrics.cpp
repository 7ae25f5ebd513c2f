#include "jobs/observe/kernel_metrics.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "jobs/observe/units.hpp"

namespace lockstep {
namespace {

std::size_t place_of(const std::string& name, TableColumn::Type type) {
  const TableSchema& schema = table_schema_of<KernelRow>();
  const auto column =
      std::find_if(schema.columns.begin(), schema.columns.end(),
                   [&](const TableColumn& candidate) { return candidate.name == name; });
  LOCKSTEP_CHECK(column != schema.columns.end() && column->type == type,
                 name + " is no such column of " + schema.path);
  return column->offset;
}

template <class T>
T at(const KernelRow& row, std::size_t place) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&row) + place, sizeof value);
  return value;
}

}  // namespace

KernelMetrics::KernelMetrics(const Node& configuration) {
  const auto places = [](const Metric::Sum& sum) {
    Sum result;
    for (const auto& [counter, weight] : sum)
      for (const std::string& column : kernel_columns_of(counter))
        result.emplace_back(place_of(column, TableColumn::Type::uint64), weight);
    return result;
  };
  for (const Metric& metric : metrics()) {
    if (metric.kernel.empty()) continue;
    derived_.push_back({metric.per, places(metric.numerator), places(metric.denominator),
                        metric.factor(configuration),
                        place_of(metric.kernel, TableColumn::Type::real)});
  }
}

void KernelMetrics::derive(KernelRow& row) const {
  const auto sum_of = [&](const Sum& sum) {
    std::uint64_t total = 0;
    for (const auto& [place, weight] : sum) total += weight * at<std::uint64_t>(row, place);
    return total;
  };
  for (const Derived& metric : derived_) {
    const std::uint64_t counted = sum_of(metric.denominator) * metric.denominator_times;
    const double divisor =
        metric.per == Metric::Per::cycle ? static_cast<double>(row.cycles)
        : metric.per == Metric::Per::second
            ? static_cast<double>(row.duration.femtoseconds()) / femtoseconds_per_second
            : static_cast<double>(counted);
    const double value = quotient(sum_of(metric.numerator), divisor);
    std::memcpy(reinterpret_cast<char*>(&row) + metric.place, &value, sizeof value);
  }
}

double kernel_value(const KernelRow& row, const Metric& metric) {
  return at<double>(row, place_of(metric.kernel, TableColumn::Type::real));
}

void add_launch(KernelRow& row, const KernelRow& launch) {
  row.cycles += launch.cycles;
  row.duration += launch.duration;
  row.counts += launch.counts;
}

}  // namespace lockstep
