/// `lockstep report`: one page about one run, or a comparison of two.
///
/// The page (jobs/observe/page) is self-contained: it has the data as JSON, its own script, and
/// dygraphs with its licence, which draws the plots.  Long series have two points per pixel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>

#include "core/error/error.hpp"
#include "core/parameters/differing_values.hpp"
#include "jobs/observe/embedded.hpp"
#include "jobs/observe/json.hpp"
#include "jobs/observe/kernel_metrics.hpp"
#include "jobs/observe/kernel_sums.hpp"
#include "jobs/observe/metric.hpp"
#include "jobs/observe/thinned.hpp"
#include "jobs/observe/timeline.hpp"
#include "jobs/observe/units.hpp"
#include "jobs/observe/written_file.hpp"
#include "jobs/options.hpp"
#include "jobs/tables.hpp"

namespace lockstep {
namespace {

constexpr std::size_t pixels_of_plot = 1000, pixels_of_timeline = 900;
constexpr const char* matrices[] = {"partition/l2_wait_behind", "partition/dram_wait_behind",
                                    "gmmu/walker_wait_behind"};

class List {
 public:
  void add(const std::string& item) { text_ += (text_.empty() ? "" : ",") + item; }
  std::string json() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

std::string tenants_json(const ObservedRun& run) {
  List rows;
  if (run.file().has("/tenants")) {
    for (const TenantRow& row : read_table<TenantRow>(run.file())) {
      const bool ended = row.end != Time::never();
      rows.add(fmt::format(
          R"({{"tenant":{},"arrival_ns":{},"end_ns":{},"cycles":{},"instructions":{},"ipc":{},)"
          R"("faults":{},"rounds":{}}})",
          json_text(row.tenant), row.arrival.femtoseconds() / femtoseconds_per_nanosecond,
          ended ? std::to_string(row.end.femtoseconds() / femtoseconds_per_nanosecond) : "null",
          row.cycles, row.warp_instructions, json_number(row.instructions_per_cycle),
          row.far_faults, row.rounds));
    }
  }
  return rows.json();
}

std::vector<Metric> metrics_of_kernels() {
  std::vector<Metric> all;
  for (const Metric& metric : metrics())
    if (!metric.kernel.empty()) all.push_back(metric);
  return all;
}

/// Returns titles of the values in kernel_table_json, behind those of its counts.
std::string kernel_columns_json() {
  List titles;
  for (const Metric& metric : metrics_of_kernels()) titles.add(json_text(metric.short_title));
  return titles.json();
}

/// Returns the kernels of each tenant, over all their launches.
std::string kernel_table_json(const ObservedRun& run) {
  List rows;
  if (!run.file().has(table_schema_of<KernelRow>().path)) return rows.json();
  const auto kernels = sum_of_kernels(run.file(), run.tenants().size(), run.configuration());
  for (std::size_t tenant = 0; tenant < kernels.size(); ++tenant) {
    for (const auto& [launches, sum] : kernels[tenant]) {
      List values;
      for (const Metric& metric : metrics_of_kernels())
        values.add(json_text(metric.short_text(kernel_value(sum, metric))));
      rows.add(
          fmt::format(R"({{"tenant":{},"kernel":{},"launches":{},"duration_ns":{},"cycles":{},)"
                      R"("instructions":{},"faults":{},"values":{}}})",
                      tenant, json_text(sum.kernel), launches,
                      sum.duration.femtoseconds() / femtoseconds_per_nanosecond, sum.cycles,
                      sum.counts.warp_instructions, sum.counts.far_faults, values.json()));
    }
  }
  return rows.json();
}

/// Adds the times for which tenants on a GPU waited for each other. Returns false if the run did
/// not count them.
bool add_delays(const ObservedRun& run, std::size_t gpu, const std::string& counter,
                std::vector<std::uint64_t>& sums) {
  const std::string totals = "/final/stats/" + run.gpus().prefix(gpu) + counter;
  if (!run.file().has(totals)) return false;
  const std::size_t all = run.tenants().size();
  const std::vector<std::size_t> numbers = run.tenants_on(gpu);
  const std::size_t there = numbers.size();
  const std::vector<std::uint64_t> words = run.file().words(totals, 0, run.file().rows(totals));
  for (std::size_t i = 0; i < words.size(); ++i)
    sums[numbers[i / there % there] * all + numbers[i % there]] += words[i];
  return true;
}

/// Returns the time for which each tenant waited for each other one, over all resources.
std::string delays_json(const ObservedRun& run) {
  const std::size_t tenants = run.tenants().size();
  List all;
  for (const std::string counter : matrices) {
    if (tenants < 2) continue;
    std::vector<std::uint64_t> sums(tenants * tenants);
    bool is_there = false;
    for (std::size_t gpu = 0; gpu < run.gpus().count(); ++gpu)
      is_there |= add_delays(run, gpu, counter, sums);
    if (!is_there) continue;
    all.add(
        fmt::format(R"({{"counter":{},"cycles":[{}]}})", json_text(counter), fmt::join(sums, ",")));
  }
  return all.json();
}

/// Returns the name of the scenario's file as on the command line; otherwise the name of the
/// output.
std::string scenario_of(const ObservedRun& run) {
  constexpr std::string_view ending = ".yaml";
  std::string name = std::filesystem::path(run.file().path()).stem().string();
  for (const h5::Attribute& attribute : run.file().attributes("/run")) {
    if (attribute.name != "command_line") continue;
    std::istringstream words(
        std::string(reinterpret_cast<const char*>(attribute.data.data()), attribute.data.size()));
    for (std::string word; words >> word;)
      if (word.ends_with(ending)) return std::filesystem::path(word).stem().string();
  }
  return name;
}

std::string run_json(const ObservedRun& run) {
  List tenants;
  for (const std::string& name : run.tenants()) tenants.add(json_text(name));
  const std::string file = std::filesystem::path(run.file().path()).filename().string();
  return fmt::format(
      R"({{"file":{},"scenario":{},"gpu":{},"finished":{},"end_ns":{},"epochs":{},"tenants":{},)"
      R"("table":{},"delays":{},"pixels":{},"kernel_table":{},"kernels":{},"blocks":{},)"
      R"("config":{}}})",
      json_text(file), json_text(scenario_of(run)), json_text(run.gpus().title()),
      run.is_finished(), run.end() / femtoseconds_per_nanosecond, run.times().size(),
      tenants.json(), tenants_json(run), delays_json(run), pixels_of_timeline,
      kernel_table_json(run), kernel_bars(run, pixels_of_timeline),
      block_counts(run, pixels_of_timeline), json_text(run.configuration_text()));
}

/// Returns the keys in which two runs' configurations differ.
std::string differences_json(const std::vector<ObservedRun>& runs) {
  List all;
  if (runs.size() > 1)
    for (const DifferingValue& value :
         differing_values(runs[0].configuration(), runs[1].configuration()))
      all.add(fmt::format(R"([{},{},{}])", json_text(value.key), json_text(value.a),
                          json_text(value.b)));
  return all.json();
}

/// Curves that one run adds to a plot.
struct Curves {
  std::vector<std::string> names;
  std::vector<double> last, whole;
  Points points;
};

Curves curves_of(const ObservedRun& run, const Metric& metric, const std::string& prefix) {
  const MetricSeries series(run, metric, run.all());
  Curves curves;
  curves.points.times = run.times();
  for (std::size_t tenant = 0; tenant < run.tenants().size(); ++tenant) {
    curves.names.push_back(prefix + run.tenants()[tenant]);
    std::vector<double>& values = curves.points.values.emplace_back();
    for (std::size_t epoch = 0; epoch < series.epochs(); ++epoch)
      values.push_back(series.at(epoch, tenant));
    curves.last.push_back(values.empty() ? std::nan("") : values.back());
  }
  curves.whole = of_whole_run(run, metric, series);
  curves.points = thinned(curves.points, pixels_of_plot);
  return curves;
}

std::string numbers_json(const std::vector<double>& values) {
  List list;
  for (const double value : values) list.add(json_number(value));
  return list.json();
}

/// Value in rows of two runs: the run has a row here, but no data.  null: only the other run has
/// the row.
constexpr const char* no_data = "\"-\"";

/// Returns rows: points of each curve have rows of their own, with null for other curves.
std::string rows_json(const std::vector<Curves>& runs) {
  std::vector<std::pair<std::int64_t, std::string>> rows;
  std::size_t before = 0, all = 0;
  const bool several = runs.size() > 1;
  for (const Curves& run : runs) all += run.names.size();
  for (const Curves& run : runs) {
    const std::size_t after = all - before - run.names.size();
    for (std::size_t point = 0; point < run.points.times.size(); ++point) {
      List row;
      row.add(fmt::format(
          "{}", static_cast<double>(run.points.times[point]) / femtoseconds_per_microsecond));
      for (std::size_t i = 0; i < before; ++i) row.add("null");
      for (const std::vector<double>& values : run.points.values)
        row.add(several && std::isnan(values[point]) ? no_data : json_number(values[point]));
      for (std::size_t i = 0; i < after; ++i) row.add("null");
      rows.emplace_back(run.points.times[point], row.json());
    }
    before += run.names.size();
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  List list;
  for (const auto& [time, row] : rows) list.add(row);
  return list.json();
}

std::string plot_json(const Metric& metric, const std::vector<Curves>& runs) {
  List names;
  std::vector<double> last, whole;
  for (const Curves& run : runs) {
    for (const std::string& name : run.names) names.add(json_text(name));
    last.insert(last.end(), run.last.begin(), run.last.end());
    whole.insert(whole.end(), run.whole.begin(), run.whole.end());
  }
  return fmt::format(
      R"({{"name":{},"title":{},"unit":{},"series":{},"last":{},"whole":{},"rows":{}}})",
      json_text(metric.name), json_text(metric.title), json_text(metric.unit), names.json(),
      numbers_json(last), numbers_json(whole), rows_json(runs));
}

std::string data_json(const std::vector<ObservedRun>& runs) {
  List all, plots;
  for (const ObservedRun& run : runs) all.add(run_json(run));
  for (const Metric& metric : metrics()) {
    std::vector<Curves> curves;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string prefix = runs.size() > 1 ? (i == 0 ? "A: " : "B: ") : "";
      curves.push_back(curves_of(runs[i], metric, prefix));
    }
    plots.add(plot_json(metric, curves));
  }
  return fmt::format(R"({{"runs":{},"differences":{},"kernel_columns":{},"plots":{}}})", all.json(),
                     differences_json(runs), kernel_columns_json(), plots.json());
}

/// Returns `page` with `text` in place of "{{name}}".
std::string fill(std::string page, const std::string& name, const std::string& text) {
  const std::string mark = "{{" + name + "}}";
  const std::size_t at = page.find(mark);
  LOCKSTEP_CHECK(at != std::string::npos, "the page has no " + mark);
  return page.replace(at, mark.size(), text);
}

std::string page_of(const std::string& data, const std::string& title) {
  std::string page = embedded::report_html;
  page = fill(page, "title", title);
  page = fill(page, "report_css", embedded::report_css);
  page = fill(page, "dygraphs_css", embedded::dygraphs_css);
  page = fill(page, "dygraphs_licence", embedded::dygraphs_licence);
  page = fill(page, "report_js", embedded::report_js);
  page = fill(page, "dygraphs_js", embedded::dygraphs_js);
  return fill(page, "data", data);
}

std::string html_text(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

}  // namespace

int report_command(const CommandLine& line) {
  if (*embedded::dygraphs_js == '\0')
    throw UserError("report", "this program was built without dygraphs, which draws its plots",
                    "install it and build again, as docs/install.md says");
  std::vector<ObservedRun> runs;
  runs.emplace_back(line.first_file);
  if (!line.second_file.empty()) runs.emplace_back(line.second_file);
  WrittenFile out(line.output.empty() ? name_beside(line.first_file, ".html") : line.output);
  const std::string title = std::filesystem::path(line.first_file).filename().string();
  out.write(page_of(data_json(runs), html_text(title)));
  out.finish();
  return exit_done;
}

}  // namespace lockstep
