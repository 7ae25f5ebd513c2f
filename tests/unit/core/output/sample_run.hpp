#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "core/output/recorder.hpp"
#include "core/output/run_output.hpp"
#include "core/statistics/statistics.hpp"

/// A small machine's output, for the tests of this folder.
namespace lockstep::sample {

struct SmStatistics {
  Counter instructions;
  std::array<Counter, 2> stalls;
  Gauge warps;
  static auto schema() {
    return statistics<SmStatistics>()
        .counter("instructions", &SmStatistics::instructions, "instructions", "issued by warps")
        .counters("stalls", &SmStatistics::stalls, {"memory", "barrier"}, "cycles", "of the issue")
        .gauge("warps", &SmStatistics::warps, "warps", "resident");
  }
};

struct PartitionStatistics {
  PerTenant<Counter> reads;
  Histogram<4> delay;
  RealGauge share;
  static auto schema() {
    return statistics<PartitionStatistics>()
        .per_tenant("reads", &PartitionStatistics::reads, "sectors", "served by DRAM")
        .histogram("delay", &PartitionStatistics::delay, "cycles", "in the queue")
        .gauge("share", &PartitionStatistics::share, "ratio", "of the data bus");
  }
};

struct KernelRow {
  std::string kernel;
  std::uint32_t tenant = 0;
  Time start;
  double ipc = 0;
  bool checked = false;
  static auto schema() {
    return table<KernelRow>("/kernels", "one row per grid")
        .column("kernel", &KernelRow::kernel, "name", "entry of the module")
        .column("tenant", &KernelRow::tenant, "index", "who launched it")
        .column("start", &KernelRow::start, "fs", "when its first block started")
        .column("ipc", &KernelRow::ipc, "instructions per cycle", "of its SMs")
        .column("checked", &KernelRow::checked, "true or false", "compared with the interpreter");
  }
};

/// 3 SMs and 2 partitions, 2 tenants.
struct Machine {
  std::array<SmStatistics, 3> sms;
  std::array<PartitionStatistics, 2> partitions;

  Machine() {
    for (PartitionStatistics& partition : partitions) set_tenants(partition, 2);
  }
  static StatisticsLayout layout() {
    return StatisticsLayout({{"sm", &statistics_schema_of<SmStatistics>(), 3},
                             {"partition", &statistics_schema_of<PartitionStatistics>(), 2}},
                            2);
  }
  std::vector<std::uint64_t> words(const StatisticsLayout& layout) const {
    std::vector<std::uint64_t> result(layout.size());
    const auto part = [&](std::size_t kind, std::size_t i) {
      return std::span(result).subspan(layout.offset(kind, i), layout.row_size(kind));
    };
    for (std::size_t i = 0; i < sms.size(); ++i) {
      statistics_schema_of<SmStatistics>().gather(&sms[i], 2, part(0, i));
    }
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      statistics_schema_of<PartitionStatistics>().gather(&partitions[i], 2, part(1, i));
    }
    return result;
  }
  /// Epoch `n` of a run: SM i issues 10 * n + i.
  void advance(std::uint64_t n) {
    for (std::size_t i = 0; i < sms.size(); ++i) {
      sms[i].instructions += 10 * n + i;
      sms[i].stalls[n % 2] += 3;
      sms[i].warps = n;
    }
    partitions[1].reads[n % 2] += n;
    partitions[1].delay.add(n);
    partitions[0].share = 1.0 / double(n + 1);
  }
};

/// A run under way: what a program does with the classes of core/output.
struct SampleRun {
  RunOutput output;
  StatisticsRecorder recorder;
  Machine machine;

  explicit SampleRun(const std::string& path)
      : output(path), recorder(output, Machine::layout(), {"graph", "dense"}) {
    output.write_config("gpu:\n  sm:\n    count: 3\n");
    output.start();
  }
  void epoch(std::uint64_t n) {
    machine.advance(n);
    recorder.record(Time{std::int64_t(n + 1) * 10'000'000'000}, machine.words(recorder.layout()));
  }
  void finish(double wall_seconds = 1) {
    recorder.finish();
    output.finish_epochs();
    recorder.write_totals();
    output.write_table<KernelRow>(
        {{"sgemm", 1, Time{5}, 1.5, true}, {"bfs_kernel", 0, Time{7}, 0.25, false}});
    const std::array<float, 4> buffer{1, 2, 3, 4};
    output.write_buffer("dense", "c", h5::Scalar::f32, {2, 2}, std::as_bytes(std::span(buffer)));
    output.write_final("end", "fs", "simulated end", std::uint64_t{77});
    output.set_run("wall_seconds", wall_seconds);
    output.close();
  }
};

/// A file name in a folder of its own, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("lockstep_output_" + std::to_string(::getpid()) + "_" + name)) {
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return (folder_ / "run.h5").string(); }

 private:
  std::filesystem::path folder_;
};

/// What a Python program prints that sees the file name as `path`, h5py and numpy.
inline std::string python(const std::string& path, const std::string& program) {
  const std::string script = "import h5py, numpy, sys\npath = sys.argv[1]\n" + program;
  const std::string command = "/usr/bin/python3 -c '" + script + "' " + path + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  while (std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), size);
  }
  ::pclose(pipe);
  return text;
}

}  // namespace lockstep::sample
