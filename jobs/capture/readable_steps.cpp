#include "jobs/capture/readable_steps.hpp"

#include <fmt/format.h>

#include "jobs/capture/workload_folder.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep::capture {
namespace {

using Kind = RecordedStep::Kind;

constexpr std::uint64_t most_steps = 60;

/// "memory_2 + 512", by the names that workload.yaml gives.
std::string place(std::uint64_t address, DeviceMemory& memory) {
  std::size_t number = 0;
  for (const auto& [begin, buffer] : memory.buffers()) {
    if (buffer.symbol.starts_with("%")) continue;  // of the machine
    if (address - begin < buffer.bytes)
      return buffer_name(number) + (address == begin ? "" : fmt::format(" + {}", address - begin));
    ++number;
  }
  return fmt::format("{:#x}", address);
}

std::string stream_of(const RecordedStep& step) {
  return step.waits != 0 || step.stream == 0 ? "" : fmt::format(", stream {}", step.stream);
}

std::string words(const RecordedStep& step, const Recording& recording, DeviceMemory& memory) {
  const auto moved = [&](const char* what) {
    return fmt::format("{} {}, {} bytes{}", what, place(step.address, memory), step.bytes,
                       stream_of(step));
  };
  switch (step.what()) {
    case Kind::launch:
      return fmt::format("launch {}, {}x{}x{} blocks of {}x{}x{}{}",
                         demangled(recording.kernel(step)), step.blocks[0], step.blocks[1],
                         step.blocks[2], step.threads[0], step.threads[1], step.threads[2],
                         stream_of(step));
    case Kind::copy_to_gpu:
      return moved("copy to GPU");
    case Kind::copy_to_host:
      return moved("copy to host");
    case Kind::write:
      return moved("write");
    case Kind::read:
      return moved("read");
    case Kind::synchronize:
      return "synchronize";
    case Kind::synchronize_stream:
      return fmt::format("synchronize stream {}", step.stream);
    case Kind::prefetch_to_gpu:
      return moved("prefetch to GPU");
    case Kind::prefetch_to_host:
      return moved("prefetch to host");
    case Kind::delay:
      return fmt::format("delay {} ns", step.bytes / 1'000'000);
    default:
      return moved("advise");
  }
}

}  // namespace

std::string buffer_name(std::size_t number) {
  return fmt::format("memory_{}", number);
}

std::string readable_steps(const std::string& recording_file, DeviceMemory& memory) {
  const Recording recording(recording_file, recording_file);
  if (recording.steps() > most_steps) return "";
  std::string text = "# program:\n";
  for (std::uint64_t number = 0; number < recording.steps(); ++number)
    text += "#   " + words(recording.step(number), recording, memory) + "\n";
  return text;
}

}  // namespace lockstep::capture
