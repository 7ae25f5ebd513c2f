/// Requests of a captured program to the GPU, on their way into a recording.
///
/// Simplified: the default stream waits for all others, and all others wait for the default stream,
/// even if they were made not to wait.  Where one stream waits for another, the host waits.  The
/// host also waits for a copy in a stream of a device that does not have the memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "jobs/capture/device_memory.hpp"
#include "models/workload/recording/collective_parts.hpp"
#include "models/workload/recording/recording_writer.hpp"

namespace lockstep::capture {

class Recorder {
 public:
  /// Streams are given as protocol.hpp has them.
  Recorder(const std::string& file, DeviceMemory& memory, std::uint32_t devices)
      : writer_(file, devices > 1), memory_(memory), devices_(devices) {}

  void copy_in(std::uint64_t address, std::uint64_t stream, bool waits,
               std::span<const std::byte> bytes);
  /// `inexact`: floats among the bytes that may differ in a replay.
  void copy_out(std::uint64_t address, std::uint64_t stream, bool waits,
                std::span<const std::byte> bytes, std::span<const isa::InexactFloats> inexact);
  void launch(const std::string& kernel, const LaunchDescription& how,
              std::span<const std::byte> parameters);
  void copy_peer(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t stream,
                 bool waits);
  /// `streams`: streams of the members; `others`: streams of GPUs that get their messages.
  void collective(RecordedCollective& collective, const std::vector<std::uint64_t>& streams,
                  const std::vector<std::uint64_t>& others);
  std::uint32_t kernel(const std::string& name) { return writer_.kernel(name); }
  void synchronize(std::uint64_t stream);
  /// Waits for all streams of a stream's device.
  void synchronize_device(std::uint64_t stream);
  void synchronize_all();
  void order(std::uint64_t waiting, std::uint64_t awaited);
  void prefetch(std::uint64_t address, std::uint64_t bytes, bool to_gpu, std::uint64_t stream);
  void advise(std::uint64_t address, std::uint64_t bytes, Advice advice);
  void touch(const Touch& touch);
  void delay(std::chrono::nanoseconds time);
  /// Records the bytes that the CPU wrote to shared memory since the last call.
  void note_cpu_writes();
  /// Marks the bytes that the GPU wrote as known, so that they are not recorded.
  void note_gpu_writes();

  const RecordingWriter& writer() const { return writer_; }
  void set_arithmetic(isa::MatrixArithmetic arithmetic) { writer_.set_arithmetic(arithmetic); }
  void finish() { writer_.finish(); }

 private:
  /// Returns where its data lies.
  std::uint64_t copy(RecordedStep::Kind kind, std::uint64_t address, std::uint64_t stream,
                     bool waits, std::span<const std::byte> bytes);
  RecordedStep& in_stream(RecordedStep& step, std::uint64_t stream, bool waits);
  /// Returns the device that has the memory; that of the stream for memory of none.
  std::uint64_t device_at(std::uint64_t address, std::uint64_t stream) const;
  void synchronize_ahead(std::uint64_t stream);
  bool is_busy_beside(std::uint64_t stream) const;
  std::uint32_t recorded_stream(std::uint64_t stream) const;

  RecordingWriter writer_;
  DeviceMemory& memory_;
  const std::uint32_t devices_;
  std::set<std::uint64_t> busy_;  ///< streams with work that the program has not waited for
};

}  // namespace lockstep::capture
