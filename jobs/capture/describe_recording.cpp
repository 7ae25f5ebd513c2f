#include "jobs/capture/describe_recording.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/capture/workload_folder.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/workload.hpp"

namespace lockstep::capture {
namespace {

using Kind = RecordedStep::Kind;

struct OfKernel {
  std::uint64_t launches = 0, blocks = 0, threads = 0;
};

struct Summary {
  std::map<std::string, OfKernel> kernels;
  std::array<std::uint64_t, RecordedStep::kinds> steps{}, bytes{};
};

Summary summarize(const Recording& recording) {
  Summary summary;
  for (std::uint64_t number = 0; number < recording.steps(); ++number) {
    const RecordedStep step = recording.step(number);
    ++summary.steps[step.kind];
    summary.bytes[step.kind] += step.bytes;
    if (step.what() != Kind::launch) continue;
    OfKernel& kernel = summary.kernels[recording.kernel(step)];
    const std::uint64_t blocks = std::uint64_t{step.blocks[0]} * step.blocks[1] * step.blocks[2];
    ++kernel.launches;
    kernel.blocks += blocks;
    kernel.threads += blocks * step.threads[0] * step.threads[1] * step.threads[2];
  }
  return summary;
}

std::string buffers_line(const Workload& workload, lockstep::MemoryKind kind, const char* name) {
  std::uint64_t count = 0, bytes = 0;
  for (const Buffer& buffer : workload.buffers) {
    if (buffer.memory != kind) continue;
    ++count;
    bytes += buffer.bytes();
  }
  return count == 0 ? "" : fmt::format("{:>8} {} buffers, {} bytes\n", count, name, bytes);
}

}  // namespace

bool is_recording(const std::string& path) {
  std::error_code absent;
  return std::filesystem::exists(std::filesystem::path(path) / "workload.yaml", absent);
}

std::string describe_recording(const std::string& path) {
  const Workload workload =
      read_workload(load_document((std::filesystem::path(path) / "workload.yaml").string()), {});
  if (!workload.recording)
    throw UserError(path, "has a workload that is no recording", "name a folder of capture");
  const Summary summary = summarize(*workload.recording);
  std::string text = fmt::format("{}: {} steps\n", path, workload.recording->steps());
  text += buffers_line(workload, lockstep::MemoryKind::device, "device");
  text += buffers_line(workload, lockstep::MemoryKind::managed, "managed");
  text += buffers_line(workload, lockstep::MemoryKind::pinned, "pinned");
  constexpr std::pair<Kind, const char*> moved[] = {
      {Kind::copy_to_gpu, "copies to the GPU"},
      {Kind::copy_to_host, "copies to the host"},
      {Kind::write, "writes of the CPU"},
      {Kind::prefetch_to_gpu, "prefetches to the GPU"},
      {Kind::prefetch_to_host, "prefetches to the host"}};
  for (const auto& [kind, name] : moved) {
    const auto k = static_cast<std::size_t>(kind);
    if (summary.steps[k] != 0)
      text += fmt::format("{:>8} {}, {} bytes\n", summary.steps[k], name, summary.bytes[k]);
  }
  text += "launches     blocks      threads  kernel\n";
  for (const auto& [name, kernel] : summary.kernels)
    text += fmt::format("{:>8} {:>10} {:>12}  {}\n", kernel.launches, kernel.blocks, kernel.threads,
                        demangled(name));
  return text;
}

std::string unsupported_entries() {
  std::string text;
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_UNSUPPORTED(name) text += #name "\n";
#include "jobs/capture/runtime/other_entries.def"
#define LOCKSTEP_OWN(name)
#define LOCKSTEP_OF_RUNTIME(name, runtime)
#define LOCKSTEP_NOT_THERE(name) LOCKSTEP_UNSUPPORTED(name)
#include "jobs/capture/runtime/driver/entries.def"
#undef LOCKSTEP_NOT_THERE
#undef LOCKSTEP_OF_RUNTIME
#undef LOCKSTEP_OWN
#undef LOCKSTEP_UNSUPPORTED
  return text;
}

}  // namespace lockstep::capture
