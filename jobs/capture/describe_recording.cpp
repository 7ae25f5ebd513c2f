#include "jobs/capture/describe_recording.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/capture/written_program.hpp"
#include "models/workload/buffer_part.hpp"
#include "models/workload/program_cursor.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep::capture {
namespace {

struct OfKernel {
  std::uint64_t launches = 0, blocks = 0, threads = 0;
};

struct Moved {
  std::uint64_t steps = 0, bytes = 0;
};

struct Summary {
  std::uint64_t steps = 0;
  std::map<std::string, OfKernel> kernels;
  /// Moved bytes, by kind of step and whether they go to the GPU.
  std::map<std::pair<Step::Kind, bool>, Moved> moved;
};

std::uint64_t product(const std::array<Expression, 3>& sizes, const Variables& variables) {
  std::uint64_t result = 1;
  for (const Expression& size : sizes)
    if (size.given())
      result *= static_cast<std::uint64_t>(size.evaluate_integer(variables, 1, maximum_count));
  return result;
}

void add_moved(const Step& step, const Workload& workload, const Variables& variables,
               Summary& summary) {
  const Buffer& buffer = workload.buffers[step.buffer];
  Moved& moved = summary.moved[{step.kind, step.to_gpu}];
  ++moved.steps;
  moved.bytes += part_of(step, buffer, variables, "recorded").count * isa::bytes_of(buffer.type);
}

/// Sums up a recording; a loop that ends by a value in memory counts as one round.
Summary summarize(const Workload& workload) {
  Summary summary;
  ProgramCursor cursor(workload);
  while (const Step* step = cursor.current()) {
    const Variables& variables = cursor.variables();
    if (step->kind == Step::Kind::copy || step->kind == Step::Kind::prefetch ||
        step->kind == Step::Kind::write || step->kind == Step::Kind::peer_copy)
      add_moved(*step, workload, variables, summary);
    if (step->kind == Step::Kind::launch) {
      OfKernel& kernel = summary.kernels[step->kernel];
      const std::uint64_t blocks = product(step->grid, variables);
      ++kernel.launches;
      kernel.blocks += blocks;
      kernel.threads += blocks * product(step->block, variables);
    }
    if (step->kind == Step::Kind::repeat_until) {
      cursor.answer(true);
    } else {
      ++summary.steps;
      cursor.advance();
    }
  }
  return summary;
}

std::string collectives_line(const Workload& workload) {
  std::uint64_t count = 0;
  for (std::uint64_t number = 0; number < workload.recording->steps(); ++number)
    if (workload.recording->step(number).what() == RecordedStep::Kind::collective) ++count;
  return count == 0 ? "" : fmt::format("{:>8} collectives, whose parts count below\n", count);
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
  const Summary summary = summarize(workload);
  std::string text = fmt::format("{}: {} steps\n", path, summary.steps);
  text += buffers_line(workload, lockstep::MemoryKind::device, "device");
  text += buffers_line(workload, lockstep::MemoryKind::managed, "managed");
  text += buffers_line(workload, lockstep::MemoryKind::pinned, "pinned");
  text += collectives_line(workload);
  using Kind = Step::Kind;
  constexpr std::tuple<Kind, bool, const char*> words[] = {
      {Kind::copy, true, "copies to the GPU"},
      {Kind::copy, false, "copies to the host"},
      {Kind::peer_copy, false, "copies between GPUs"},
      {Kind::write, false, "writes of the CPU"},
      {Kind::prefetch, true, "prefetches to the GPU"},
      {Kind::prefetch, false, "prefetches to the host"}};
  for (const auto& [kind, to_gpu, name] : words) {
    const auto found = summary.moved.find({kind, to_gpu});
    if (found != summary.moved.end())
      text += fmt::format("{:>8} {}, {} bytes\n", found->second.steps, name, found->second.bytes);
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
#define LOCKSTEP_OLD(name, newer)
#define LOCKSTEP_OF_RUNTIME(name, runtime)
#define LOCKSTEP_NOT_THERE(name) LOCKSTEP_UNSUPPORTED(name)
#include "jobs/capture/runtime/driver/entries.def"
#undef LOCKSTEP_NOT_THERE
#undef LOCKSTEP_OF_RUNTIME
#undef LOCKSTEP_OWN
#undef LOCKSTEP_OLD
#undef LOCKSTEP_UNSUPPORTED
  return text;
}

}  // namespace lockstep::capture
