/// Requests of a captured program to the GPU, on their way into a recording.
///
/// Simplified: the default stream waits for all others and they for it, also those that were made
/// not to; a wait of one stream for another is a wait of the host.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "jobs/capture/device_memory.hpp"
#include "models/workload/recording/recording_writer.hpp"

namespace lockstep::capture {

class Recorder {
 public:
  Recorder(const std::string& file, DeviceMemory& memory) : writer_(file), memory_(memory) {}

  void copy_in(std::uint64_t address, std::uint64_t stream, bool waits,
               std::span<const std::byte> bytes);
  /// `inexact`: of the bytes, what may differ in a replay.
  void copy_out(std::uint64_t address, std::uint64_t stream, bool waits,
                std::span<const std::byte> bytes, std::span<const isa::InexactFloats> inexact);
  void launch(const std::string& kernel, const LaunchDescription& how,
              std::span<const std::byte> parameters);
  void synchronize(std::uint64_t stream);
  void synchronize();
  void order(std::uint64_t waiting, std::uint64_t awaited);
  void prefetch(std::uint64_t address, std::uint64_t bytes, bool to_gpu, std::uint64_t stream);
  void advise(std::uint64_t address, std::uint64_t bytes, Advice advice);
  void touch(const Touch& touch);
  void delay(std::chrono::nanoseconds time);
  /// Records what the CPU wrote to shared memory since the last call.
  void note_cpu_writes();
  /// Takes what the GPU wrote there as known, so that it is not recorded.
  void note_gpu_writes();

  const RecordingWriter& writer() const { return writer_; }
  void set_arithmetic(isa::MatrixArithmetic arithmetic) { writer_.set_arithmetic(arithmetic); }
  void finish() { writer_.finish(); }

 private:
  /// Returns where its data lies.
  std::uint64_t copy(RecordedStep::Kind kind, std::uint64_t address, std::uint64_t stream,
                     bool waits, std::span<const std::byte> bytes);
  RecordedStep& in_stream(RecordedStep& step, std::uint64_t stream, bool waits);

  RecordingWriter writer_;
  DeviceMemory& memory_;
  std::set<std::uint64_t> busy_;  ///< streams that have work that nobody waited for
};

}  // namespace lockstep::capture
