/// A trace that ui.perfetto.dev and chrome://tracing show: a process per tenant with its kernels,
/// faults and their transfers, and one per SM with its thread blocks.  Each metric of a tenant is
/// a counter track of its process.
///
/// Slices of one thread may nest but not cross, so what overlaps stands in lanes.  A transfer is
/// the part of a fault from its service to the news that the page has come, if data came with it.
/// Times are cut to whole nanoseconds.
/// Source: Trace Event Format ("complete events", "metadata events").
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error/error.hpp"
#include "jobs/observe/export.hpp"
#include "jobs/observe/json.hpp"
#include "jobs/observe/lanes.hpp"
#include "jobs/observe/metric.hpp"
#include "jobs/observe/thinned.hpp"
#include "jobs/observe/units.hpp"
#include "jobs/observe/written_file.hpp"
#include "jobs/tables.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t first_sm_process = 1'000'000;  // processes of SMs follow those of tenants
constexpr std::size_t first_fault_lane = 1'000'000;    // lanes of faults follow those of kernels
constexpr std::size_t lanes_of_a_gpu = 4096;

/// Returns nanoseconds as the microseconds of the format, without loss.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

struct Slice {
  std::string name, category, arguments;
  std::uint32_t process = 0;
  std::size_t thread = 0;
  std::int64_t begin = 0, end = 0;  ///< interval in ns
};

class Trace {
 public:
  Trace(const std::string& output, std::int64_t end_of_run) : file_(output), end_(end_of_run) {
    file_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
  }

  /// Returns a time in nanoseconds; a time that never came is the end of the run.
  std::int64_t nanoseconds(Time time) const {
    return std::min(time.femtoseconds(), end_) / femtoseconds_per_nanosecond;
  }
  void add(const Slice& slice) {
    event(fmt::format(R"({{"ph": "X", "name": {}, "cat": "{}", "pid": {}, "tid": {}, )"
                      R"("ts": {}, "dur": {}, "args": {{{}}}}})",
                      json_text(slice.name), slice.category, slice.process, slice.thread,
                      microseconds(slice.begin), microseconds(slice.end - slice.begin),
                      slice.arguments));
  }
  /// Adds a value that holds from then on; NaN draws nothing.
  void count(const std::string& name, std::uint32_t process, std::int64_t begin, double value) {
    event(fmt::format(R"({{"ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{"value": {}}}}})",
                      json_text(name), process, microseconds(begin),
                      std::isnan(value) ? std::string("0") : json_number(value)));
  }
  void name_process(std::uint32_t process, const std::string& name) {
    metadata("process_name", process, 0, name);
  }
  void name_thread(std::uint32_t process, std::size_t thread, const std::string& name) {
    if (named_.emplace(process, thread).second) metadata("thread_name", process, thread, name);
  }
  void finish() {
    file_.write("\n]}\n");
    file_.finish();
  }

 private:
  void metadata(const char* what, std::uint32_t process, std::size_t thread,
                const std::string& name) {
    event(
        fmt::format(R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
                    what, process, thread, json_text(name)));
  }
  void event(const std::string& text) {
    file_.write((is_first_ ? "\n" : ",\n") + text);
    is_first_ = false;
  }

  WrittenFile file_;
  const std::int64_t end_;
  bool is_first_ = true;
  std::set<std::pair<std::uint32_t, std::size_t>> named_;
};

template <class Row>
std::vector<Row> sorted(std::vector<Row> rows, Time Row::*begin) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return a.*begin < b.*begin; });
  return rows;
}

std::uint32_t process_of(std::uint32_t tenant) {
  return tenant + 1;
}

/// Returns the name of a row of slices; with several GPUs it names the GPU: "gpu1/kernels 0".
std::string name_of_lane(const ObservedRun& run, std::uint32_t gpu, const char* what,
                         std::size_t lane) {
  return fmt::format("{}{} {}", run.gpus().prefix(gpu), what, lane);
}

/// Slices of different GPUs stand apart, by tenant and GPU.
using LanesOfGpus = std::map<std::pair<std::uint32_t, std::uint32_t>, Lanes>;

void add_kernels(Trace& trace, const ObservedRun& run) {
  LanesOfGpus lanes;
  for (const KernelRow& kernel : sorted(read_table<KernelRow>(run.file()), &KernelRow::launched)) {
    Slice slice{kernel.kernel, "kernel",
                fmt::format(R"("stream": {}, "blocks": [{}, {}, {}], "threads": [{}, {}, {}], )"
                            R"("finished": {})",
                            kernel.stream, kernel.blocks_x, kernel.blocks_y, kernel.blocks_z,
                            kernel.threads_x, kernel.threads_y, kernel.threads_z,
                            kernel.done != Time::never())};
    slice.process = process_of(kernel.tenant);
    slice.begin = trace.nanoseconds(kernel.launched);
    slice.end = trace.nanoseconds(kernel.done);
    const std::size_t lane = lanes[{kernel.tenant, kernel.gpu}].lane_of(slice.begin, slice.end);
    slice.thread = kernel.gpu * lanes_of_a_gpu + lane;
    trace.name_thread(slice.process, slice.thread, name_of_lane(run, kernel.gpu, "kernels", lane));
    trace.add(slice);
  }
}

void add_blocks(Trace& trace, const ObservedRun& run) {
  const std::vector<KernelRow> kernels = read_table<KernelRow>(run.file());
  struct Sm {
    std::string name;
    Lanes lanes;
  };
  constexpr std::uint32_t most_sms = 1 << 16;  // SMs of a GPU
  std::map<std::uint32_t, Sm> sms;
  for (const BlockRow& block : read_table<BlockRow>(run.file())) {
    const bool known = block.grid < kernels.size();
    const std::string kernel = known ? kernels[block.grid].kernel : "grid";
    const std::uint32_t tenant = known ? kernels[block.grid].tenant : 0;
    Slice slice{fmt::format("{} [{}]", kernel, block.block), "block",
                fmt::format(R"("grid": {}, "block": {}, "tenant": {}, "finished": {})", block.grid,
                            block.block, tenant, block.done != Time::never())};
    slice.process = first_sm_process + block.gpu * most_sms + block.sm;
    slice.begin = trace.nanoseconds(block.started);
    slice.end = trace.nanoseconds(block.done);
    Sm& own = sms[slice.process];
    own.name = fmt::format("{}sm[{}]", run.gpus().prefix(block.gpu), block.sm);
    slice.thread = own.lanes.lane_of(slice.begin, slice.end);
    trace.name_thread(slice.process, slice.thread, fmt::format("blocks {}", slice.thread));
    trace.add(slice);
  }
  for (const auto& [process, sm] : sms) trace.name_process(process, sm.name);
}

void add_faults(Trace& trace, const ObservedRun& run) {
  LanesOfGpus lanes;
  for (const FaultRow& fault : sorted(read_table<FaultRow>(run.file()), &FaultRow::found)) {
    Slice slice{fmt::format("fault {:#x}", fault.virtual_address), "fault",
                fmt::format(R"("pages": {}, "position": {}, "class": {}, "handler": {}, )"
                            R"("finished": {})",
                            fault.pages, fault.position, json_text(fault.kind),
                            json_text(fault.handler), fault.mapped != Time::never())};
    slice.process = process_of(fault.tenant);
    slice.begin = trace.nanoseconds(fault.found);
    slice.end = trace.nanoseconds(fault.mapped);
    const std::size_t lane = lanes[{fault.tenant, fault.gpu}].lane_of(slice.begin, slice.end);
    slice.thread = first_fault_lane + fault.gpu * lanes_of_a_gpu + lane;
    trace.name_thread(slice.process, slice.thread, name_of_lane(run, fault.gpu, "faults", lane));
    trace.add(slice);
    if (fault.kind != "migrate") continue;
    slice.name = fmt::format("transfer of {} pages", fault.pages);
    slice.category = "transfer";
    slice.begin = std::clamp(trace.nanoseconds(fault.served), slice.begin, slice.end);
    trace.add(slice);
  }
}

/// A value of an epoch stands at its beginning.
void add_counters(Trace& trace, const ObservedRun& run) {
  constexpr std::size_t most_points = 2000;
  for (const Metric& metric : metrics()) {
    const MetricSeries series(run, metric, run.all());
    for (std::uint32_t tenant = 0; tenant < run.tenants().size(); ++tenant) {
      Points points;
      points.times = run.times();
      points.values.emplace_back();
      for (std::size_t epoch = 0; epoch < series.epochs(); ++epoch)
        points.values[0].push_back(series.at(epoch, tenant));
      points = thinned(points, most_points);
      std::int64_t begin = 0;
      for (std::size_t i = 0; i < points.times.size(); ++i) {
        trace.count(metric.title + ", " + metric.unit, process_of(tenant),
                    begin / femtoseconds_per_nanosecond, points.values[0][i]);
        begin = points.times[i];
      }
    }
  }
}

}  // namespace

void export_perfetto(const ObservedRun& run, const std::string& table, const std::string& output) {
  const auto wants = [&](const char* name) {
    if (!table.empty()) return table == name;
    return run.file().has("/" + std::string(name));
  };
  const std::string sliced[] = {"kernels", "thread_blocks", "faults"};
  if (!table.empty() && std::find(std::begin(sliced), std::end(sliced), table) == std::end(sliced))
    throw UserError("--table " + table, "has no slices", "name kernels, thread_blocks or faults");
  require_table(run, "kernels");
  Trace trace(output, run.end());
  for (std::uint32_t tenant = 0; tenant < run.tenants().size(); ++tenant)
    trace.name_process(process_of(tenant), run.tenants()[tenant]);
  if (wants("kernels")) add_kernels(trace, run);
  if (wants("thread_blocks")) add_blocks(trace, run);
  if (wants("faults")) add_faults(trace, run);
  if (table.empty()) add_counters(trace, run);
  trace.finish();
}

}  // namespace lockstep
