/// `lockstep extract`: launches N to M of a recording, with the memory at that point: a region of
/// interest.
///
/// Earlier steps are executed functionally, and the memory that they leave is copied in at the
/// start.
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
#include "models/workload/buffer_part.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "models/workload/program_cursor.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {
namespace {

using Kind = RecordedStep::Kind;
namespace fs = std::filesystem;

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

RecordedStep step_of(Kind kind) {
  RecordedStep step;
  step.kind = static_cast<std::uint32_t>(kind);
  return step;
}

/// Writes the memory that earlier launches have left.  A replay starts with zeros, except for
/// variables, which start with their initial content.
void write_memory(const Workload& workload, const FunctionalResult& before,
                  RecordingWriter& writer) {
  for (std::size_t b = 0; b < workload.buffers.size(); ++b) {
    const Buffer& buffer = workload.buffers[b];
    const bool on_gpu = buffer.memory == lockstep::MemoryKind::device;
    const std::vector<std::byte> content =
        (on_gpu ? *before.buffers[b].device : before.buffers[b].host).copy();
    if (buffer.symbol.empty() && is_zero(content)) continue;
    RecordedStep step = step_of(on_gpu ? Kind::copy_to_gpu : Kind::write);
    step.address = *buffer.address;
    step.bytes = content.size();
    step.data = writer.add_data(content);
    step.waits = 1;
    writer.add(step);
  }
}

/// The steps of a workload as a recording has them.
class Extract {
 public:
  Extract(const Workload& workload, const isa::Module& module, RecordingWriter& writer)
      : workload_(workload), module_(module), writer_(writer) {
    for (const Buffer& buffer : workload.buffers) addresses_.push_back(*buffer.address);
  }

  /// Copies the steps from launch `first` to launch `last`, and the following ones up to the next
  /// launch.
  void copy_steps(std::uint64_t first, std::uint64_t last) {
    std::uint64_t launches = 0;
    for (ProgramCursor cursor(workload_); cursor.current() != nullptr; cursor.advance()) {
      const Step& step = *cursor.current();
      const bool is_launch = step.kind == Step::Kind::launch;
      if (is_launch && launches > last) return;
      if (is_launch) ++launches;
      if (launches > first) copy(step, cursor.variables());
    }
  }

 private:
  void copy(const Step& from, const Variables& variables) {
    switch (from.kind) {
      case Step::Kind::launch:
        return writer_.add(launch(from, variables));
      case Step::Kind::copy:
        return writer_.add(
            memory_step(from.to_gpu ? Kind::copy_to_gpu : Kind::copy_to_host, from, variables));
      case Step::Kind::peer_copy:
        return writer_.add(peer_copy(from, variables));
      case Step::Kind::write:
        return writer_.add(memory_step(Kind::write, from, variables));
      case Step::Kind::read:
        return writer_.add(memory_step(Kind::read, from, variables));
      case Step::Kind::prefetch:
        return writer_.add(memory_step(from.to_gpu ? Kind::prefetch_to_gpu : Kind::prefetch_to_host,
                                       from, variables));
      case Step::Kind::advise:
        return advise(from, variables);
      case Step::Kind::synchronize: {
        RecordedStep step = step_of(from.has_stream ? Kind::synchronize_stream : Kind::synchronize);
        step.stream = from.stream;
        return writer_.add(step);
      }
      case Step::Kind::delay: {
        RecordedStep step = step_of(Kind::delay);
        step.bytes = static_cast<std::uint64_t>(from.duration.femtoseconds());
        return writer_.add(step);
      }
      default:
        throw UserError(from.where, "is a step that a recording cannot have",
                        "extract from launches, copies, reads, writes, prefetches and advice");
    }
  }

  RecordedStep launch(const Step& from, const Variables& variables) {
    const isa::Program& kernel = module_.kernels[find_kernel(from, module_)].reference;
    const LaunchShape shape = launch_shape(kernel, from, variables);
    const std::vector<std::byte> packed = pack_arguments(kernel, from, variables, addresses_);
    RecordedStep step = step_of(from.is_programmatic ? Kind::launch_programmatic : Kind::launch);
    step.kernel = writer_.kernel(from.kernel);
    step.stream = from.stream;
    step.bytes = packed.size();
    step.data = writer_.add_arguments(packed);
    std::copy(shape.blocks.begin(), shape.blocks.end(), std::begin(step.blocks));
    std::copy(shape.threads.begin(), shape.threads.end(), std::begin(step.threads));
    step.shared_bytes = shape.dynamic_shared_bytes;
    if (shape.is_explicit_cluster) step.set_cluster(shape.cluster);
    return step;
  }

  RecordedStep peer_copy(const Step& from, const Variables& variables) {
    const Buffer &source = workload_.buffers[from.buffer], &target = workload_.buffers[from.other];
    const PeerParts parts = peer_parts_of(from, source, target, variables, "extracted");
    RecordedStep step = step_of(Kind::copy_to_peer);
    step.address = *source.address + parts.from;
    step.data = *target.address + parts.to;
    step.bytes = parts.bytes;
    step.stream = from.stream;
    step.waits = from.has_stream ? 0 : 1;
    return step;
  }

  RecordedStep memory_step(Kind kind, const Step& from, const Variables& variables) {
    const Buffer& buffer = workload_.buffers[from.buffer];
    const BufferPart part = part_of(from, buffer, variables, "extracted");
    RecordedStep step = step_of(kind);
    step.address = *buffer.address + part.first;
    step.bytes = part.count;
    step.stream = from.stream;
    step.waits = from.kind == Step::Kind::copy && !from.has_stream ? 1 : 0;
    if (!step.has_data()) return step;
    if (!from.data)
      throw UserError(from.where, "says no `recorded`, so that its data is not known",
                      "extract from steps that have it");
    std::vector<std::byte> bytes(part.count);
    workload_.recording->read(*from.data, 0, bytes);
    step.data = writer_.add_data(bytes);
    if (kind == Kind::copy_to_host)
      writer_.add_inexact(step.data, workload_.recording->inexact(*from.data));
    return step;
  }

  void advise(const Step& from, const Variables& variables) {
    constexpr Kind places[] = {Kind::prefer_none, Kind::prefer_host, Kind::prefer_gpu};
    if (from.preferred)
      writer_.add(memory_step(places[static_cast<std::size_t>(*from.preferred)], from, variables));
    if (from.read_mostly)
      writer_.add(memory_step(*from.read_mostly ? Kind::read_mostly : Kind::not_read_mostly, from,
                              variables));
  }

  const Workload& workload_;
  const isa::Module& module_;
  RecordingWriter& writer_;
  std::vector<std::uint64_t> addresses_;  ///< addresses of buffers
};

std::uint64_t count_launches(const Workload& workload) {
  std::uint64_t launches = 0;
  for (ProgramCursor cursor(workload); cursor.current() != nullptr; cursor.advance()) {
    if (cursor.current()->kind == Step::Kind::repeat_until)
      throw UserError(cursor.current()->where, "memory decides how often this loop runs",
                      "extract from a program that says how often: times");
    launches += cursor.current()->kind == Step::Kind::launch ? 1 : 0;
  }
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
  check_range(line, count_launches(workload));
  isa::LoweringOptions lowering;
  lowering.matrices = workload.recording->arithmetic().value_or(*lowering.matrices);
  const isa::Module module =
      isa::load_modules(workload.module_files(), lowering, launched_kernels(workload));
  const FunctionalResult before =
      run_functionally("extracted", workload, module, {.launches = line.first_launch});
  capture::WorkloadFolder folder(line.output);
  RecordingWriter writer(folder.recording_file(), workload.recording->has_devices());
  if (const auto arithmetic = workload.recording->arithmetic()) writer.set_arithmetic(*arithmetic);
  write_memory(workload, before, writer);
  Extract(workload, module, writer).copy_steps(line.first_launch, line.last_launch);
  writer.finish();
  const auto find_kernel = [&](const std::string& name) -> const isa::Program& {
    return module.kernels[static_cast<std::size_t>(module.kernel_index(name))].reference;
  };
  folder.finish_extract(
      workload, writer, find_kernel,
      fmt::format("launches {} to {} of {}", line.first_launch, line.last_launch, line.first_file));
  std::fprintf(stderr, "%s: %llu launches, %llu steps\n", line.output.c_str(),
               static_cast<unsigned long long>(writer.launches()),
               static_cast<unsigned long long>(writer.steps()));
  return exit_done;
}

}  // namespace lockstep
