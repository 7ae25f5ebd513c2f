#include "jobs/observe/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/observe/embedded.hpp"
#include "jobs/observe/units.hpp"
#include "jobs/tables.hpp"

namespace lockstep {
namespace {

Metric::Sum read_sum(const Node& node) {
  Metric::Sum sum;
  if (!node.exists()) return sum;
  for (const auto& [counter, weight] : node.entries())
    sum.emplace_back(counter, weight.unsigned_integer());
  return sum;
}

const Node& definitions() {
  static const Node all = parse_document(embedded::metrics_json, "metrics.json");
  return all;
}

std::string text_of(const Node& map, const char* key) {
  const Node node = map.find(key);
  return node.exists() ? node.text() : "";
}

std::vector<Metric> read_metrics() {
  std::vector<Metric> all;
  for (const Node& node : definitions().at("metrics").items()) {
    Metric metric{node.at("name").text(),         node.at("title").text(),
                  node.at("short").text(),        node.at("unit").text(),
                  read_sum(node.at("numerator")), read_sum(node.find("denominator"))};
    metric.column = text_of(node, "whole");
    metric.kernel = text_of(node, "kernel");
    metric.denominator_times = text_of(node, "denominator_times");
    if (metric.denominator.empty())
      metric.per = node.at("per").text() == "cycle" ? Metric::Per::cycle : Metric::Per::second;
    all.push_back(std::move(metric));
  }
  return all;
}

std::vector<std::uint64_t> sum_of(const ObservedRun& run, const Metric::Sum& sum,
                                  EpochRange epochs) {
  std::vector<std::uint64_t> values(epochs.count * run.tenants().size());
  for (const auto& [counter, weight] : sum) {
    const std::vector<std::uint64_t> counted = run.by_tenant(counter, epochs);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += weight * counted[i];
  }
  return values;
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = read_metrics();
  return all;
}

std::uint64_t Metric::factor(const Node& configuration) const {
  if (denominator_times.empty()) return 1;
  Node node = configuration;
  std::istringstream path(denominator_times);
  for (std::string key; std::getline(path, key, '.');) node = node.at(key);
  return node.unsigned_integer();
}

std::string Metric::short_text(double value) const {
  if (std::isnan(value)) return "-";
  if (unit == "ratio") return fmt::format("{:.1f}%", 100 * value);
  if (unit == "bytes/s") return fmt::format("{:.2f}", value * 1e-9);
  if (value > 0 && value < 0.01) return fmt::format("{:.2g}", value);
  return value < 100 ? fmt::format("{:.3f}", value) : fmt::format("{:.0f}", value);
}

const std::vector<std::string>& kernel_columns_of(const std::string& counter) {
  static const auto all = [] {
    std::map<std::string, std::vector<std::string>> columns;
    for (const auto& [name, list] : definitions().at("columns of /kernels").entries())
      for (const Node& column : list.items()) columns[name].push_back(column.text());
    return columns;
  }();
  return all.at(counter);
}

double quotient(std::uint64_t numerator, double divisor) {
  if (divisor == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(numerator) / divisor;
}

MetricSeries::MetricSeries(const ObservedRun& run, const Metric& metric, EpochRange epochs)
    : metric_(metric),
      tenants_(run.tenants().size()),
      epochs_(epochs.count),
      numerators_(sum_of(run, metric.numerator, epochs)),
      denominators_(sum_of(run, metric.denominator, epochs)) {
  for (std::size_t tenant = 0; tenant < tenants_; ++tenant) {
    const Node& configuration = run.gpus().configuration(run.gpus().gpu_of(tenant));
    of_tenant_.push_back({run.core_hertz(tenant), metric.factor(configuration)});
  }
  std::int64_t before = epochs.first > 0 ? run.times()[epochs.first - 1] : 0;
  for (std::size_t epoch = 0; epoch < epochs_; ++epoch) {
    const std::int64_t end = run.times()[epochs.first + epoch];
    elapsed_.push_back(end - before);
    before = end;
  }
}

double MetricSeries::divide(std::size_t tenant, std::uint64_t numerator, std::uint64_t denominator,
                            std::int64_t elapsed) const {
  const OfTenant& its = of_tenant_[tenant];
  double divisor = static_cast<double>(denominator * its.denominator_times);
  if (metric_.per != Metric::Per::denominator) {
    const double rate = metric_.per == Metric::Per::cycle ? its.core_hertz : 1;
    divisor = static_cast<double>(elapsed) * rate / femtoseconds_per_second;
  }
  return quotient(numerator, divisor);
}

double MetricSeries::at(std::size_t epoch, std::size_t tenant) const {
  const std::size_t place = epoch * tenants_ + tenant;
  return divide(tenant, numerators_[place], denominators_[place], elapsed_[epoch]);
}

double MetricSeries::of_all(std::size_t tenant) const {
  std::uint64_t numerator = 0, denominator = 0;
  for (std::size_t place = tenant; place < numerators_.size(); place += tenants_) {
    numerator += numerators_[place];
    denominator += denominators_[place];
  }
  return divide(tenant, numerator, denominator,
                std::accumulate(elapsed_.begin(), elapsed_.end(), std::int64_t{0}));
}

std::vector<double> of_whole_run(const ObservedRun& run, const Metric& metric,
                                 const MetricSeries& series) {
  std::vector<double> values;
  for (std::size_t tenant = 0; tenant < run.tenants().size(); ++tenant)
    values.push_back(series.of_all(tenant));
  const TableSchema& schema = table_schema_of<TenantRow>();
  if (metric.column.empty() || !run.file().has(schema.path)) return values;
  const auto column =
      std::find_if(schema.columns.begin(), schema.columns.end(),
                   [&](const TableColumn& candidate) { return candidate.name == metric.column; });
  LOCKSTEP_CHECK(column != schema.columns.end() && column->type == TableColumn::Type::real,
                 metric.name + " is no column of " + schema.path);
  const std::vector<TenantRow> rows = read_table<TenantRow>(run.file());
  for (std::size_t tenant = 0; tenant < std::min(rows.size(), values.size()); ++tenant) {
    std::memcpy(&values[tenant], reinterpret_cast<const char*>(&rows[tenant]) + column->offset,
                sizeof values[tenant]);
  }
  return values;
}

}  // namespace lockstep
