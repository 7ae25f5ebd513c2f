/// `lockstep extract`: launches N to M of a recording, with the memory as it was there: a region of
/// interest.
///
/// What comes before is executed functionally; what it left in memory is copied in at the start.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/capture/workload_folder.hpp"
#include "jobs/options.hpp"
#include "models/isa/load.hpp"
#include "models/reference/functional_run.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {
namespace {

using Kind = RecordedStep::Kind;
namespace fs = std::filesystem;

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

RecordedStep memory_step(Kind kind, std::uint64_t address, std::uint64_t data,
                         std::uint64_t bytes) {
  RecordedStep step;
  step.kind = static_cast<std::uint32_t>(kind);
  step.address = address;
  step.bytes = bytes;
  step.data = data;
  step.waits = 1;
  return step;
}

/// The memory that the launches before have left.  Zeros are there at the start of a replay, but
/// for variables, which have their initial content.
void write_memory(const Workload& workload, const FunctionalResult& before,
                  RecordingWriter& writer) {
  for (std::size_t b = 0; b < workload.buffers.size(); ++b) {
    const Buffer& buffer = workload.buffers[b];
    const bool on_gpu = buffer.memory == lockstep::MemoryKind::device;
    const std::vector<std::byte>& content =
        on_gpu ? *before.buffers[b].device : before.buffers[b].host;
    if (buffer.symbol.empty() && is_zero(content)) continue;
    writer.add(memory_step(on_gpu ? Kind::copy_to_gpu : Kind::write, *buffer.address,
                           writer.add_data(content), content.size()));
  }
}

class Extract {
 public:
  Extract(const Recording& recording, RecordingWriter& writer)
      : recording_(recording), writer_(writer) {}

  /// Steps from launch `first` to launch `last`, and what follows it up to the next launch.
  void copy_steps(std::uint64_t first, std::uint64_t last) {
    std::uint64_t launches = 0;
    for (std::uint64_t number = 0; number < recording_.steps(); ++number) {
      const RecordedStep step = recording_.step(number);
      const bool is_launch = step.what() == Kind::launch;
      if (is_launch && launches > last) return;
      if (is_launch) ++launches;
      if (launches > first) copy(step);
    }
  }

 private:
  void copy(RecordedStep step) {
    switch (step.what()) {
      case Kind::launch:
        step.kernel = writer_.kernel(recording_.kernel(step));
        step.data = writer_.add_arguments(recording_.arguments(step));
        break;
      case Kind::copy_to_gpu:
      case Kind::copy_to_host:
      case Kind::write: {
        std::vector<std::byte> bytes(step.bytes);
        recording_.read({step.data, step.bytes}, 0, bytes);
        step.data = writer_.add_data(bytes);
        break;
      }
      default:
        break;
    }
    writer_.add(step);
  }

  const Recording& recording_;
  RecordingWriter& writer_;
};

std::uint64_t count_launches(const Recording& recording) {
  std::uint64_t launches = 0;
  for (std::uint64_t number = 0; number < recording.steps(); ++number)
    launches += recording.step(number).what() == Kind::launch ? 1 : 0;
  return launches;
}

void check_range(const CommandLine& line, std::uint64_t launches) {
  if (line.first_launch <= line.last_launch && line.last_launch < launches) return;
  throw UserError("--launches",
                  fmt::format("{} to {} are not launches of {}, which has {}, from 0 on",
                              line.first_launch, line.last_launch, line.first_file, launches),
                  "write --launches FIRST LAST");
}

}  // namespace

int extract_command(const CommandLine& line) {
  const fs::path from = line.first_file;
  const Workload workload = read_workload(load_document((from / "workload.yaml").string()), {});
  if (!workload.recording)
    throw UserError(line.first_file, "is no recording", "name a folder that capture wrote");
  check_range(line, count_launches(*workload.recording));
  const auto& launched = workload.recording->launched_kernels();
  const isa::Module module =
      isa::load_modules(workload.module_files(), {}, {launched.begin(), launched.end()});
  const FunctionalResult before =
      run_functionally("extracted", workload, module, nullptr, {}, line.first_launch);
  capture::WorkloadFolder folder(line.output);
  RecordingWriter writer(folder.recording_file());
  write_memory(workload, before, writer);
  Extract(*workload.recording, writer).copy_steps(line.first_launch, line.last_launch);
  writer.finish();
  folder.finish_extract(line.first_file, workload.module_files(),
                        fmt::format("launches {} to {}", line.first_launch, line.last_launch));
  std::fprintf(stderr, "%s: %llu launches, %llu steps\n", line.output.c_str(),
               static_cast<unsigned long long>(writer.launches()),
               static_cast<unsigned long long>(writer.steps()));
  return exit_done;
}

}  // namespace lockstep
