/// Executes the GPU requests of a captured program, one after the other, and records them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jobs/capture/captured_modules.hpp"
#include "jobs/capture/collectives/collective_calls.hpp"
#include "jobs/capture/observing/race_report.hpp"
#include "jobs/capture/recorder.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/isa/interpreter/inexact/inexact_memory.hpp"
#include "models/sm/parameters/occupancy.hpp"

namespace lockstep::capture {

class Session {
 public:
  /// Makes a session.  `devices`: number of GPUs of the kind, which see each other.
  Session(const GpuParameters& gpu, const std::string& recording, bool strict,
          std::uint32_t devices = 1);
  /// Reports kernels' races in shared memory from now on.
  void find_races() { races_.emplace(); }

  struct Reply {
    Answer answer;
    std::vector<std::byte> bytes;
    std::string printed;
  };
  Reply serve(const Request& request, std::span<const std::byte> bytes);
  /// Returns whether a request was none that a CUDA runtime makes: no other is served.
  bool is_over() const { return is_over_; }
  /// Returns the most bytes behind a request.
  std::uint64_t largest_request() const;

  DeviceMemory& memory() { return memory_; }
  const DeviceMemory& memory() const { return memory_; }
  const CapturedModules& modules() const { return modules_; }
  Recorder& recorder() { return recorder_; }

  bool was_used() const { return was_used_; }
  /// Returns whether the program has its own CUDA runtime inside, which capture cannot follow.
  bool has_runtime_inside() const { return has_runtime_inside_; }
  /// Returns why the recording ends before the program did.
  const std::optional<std::string>& failure() const { return failure_; }
  std::uint64_t time_questions() const { return time_questions_; }
  std::uint64_t warp_instructions() const { return warp_instructions_; }
  double execution_seconds() const { return execution_seconds_; }
  const std::optional<RaceReport>& races() const { return races_; }
  /// Returns floats of a buffer, and of places of copies to the host, that may differ in a replay;
  /// at most about `most` of each.
  std::vector<isa::InexactFloats> inexact(std::uint64_t address, std::uint64_t bytes,
                                          std::size_t most) const;

 private:
  using Bytes = std::span<const std::byte>;
  void dispatch(const Request& request, Bytes bytes, Reply& reply);

  void hello(const Request& request, Reply& reply);
  void find_function(const Request& request, Bytes bytes, Reply& reply);
  void find_variable(const Request& request, Bytes bytes, Reply& reply);
  void allocate(const Request& request, Reply& reply);
  void copy_in(const Request& request, Bytes bytes, Reply& reply);
  void copy_out(const Request& request, Reply& reply);
  void copy_within(const Request& request, Reply& reply);
  void fill(const Request& request, Reply& reply);
  void launch(Bytes bytes, Reply& reply);
  void occupancy(const Request& request, Reply& reply);
  void peer_access(const Request& request);
  /// Copies between devices.
  void copy_peer(const Request& request);
  void collective(const Request& request, Bytes bytes, Reply& reply);
  void copy_part(const CollectivePart& part);
  void run_part(const CollectivePart& part, std::uint64_t function, Reply& reply);
  void event_time(const Request& request, Reply& reply);
  std::uint32_t device_of(std::uint64_t number) const;
  /// Checks that a stream is on one of the devices.
  std::uint32_t stream_of(std::uint64_t number) const;
  /// Returns a stream of the memory's own device in which kernels change memory at an address;
  /// `stream`: the one that the program names.
  std::uint64_t stream_at(std::uint64_t address, std::uint64_t stream);
  void unsupported(Bytes bytes);
  void register_module(const Request& request, Bytes bytes, Reply& reply);
  void touch(Bytes bytes);
  void advise_or_prefetch(const Request& request, Reply& reply);
  /// Notes a library with a CUDA runtime of its own, or the program itself.
  void other_runtime(const Request& request, Bytes bytes);

  /// Returns the resources that a block takes.  Where the kernel has more registers here than an SM
  /// has for the block, it counts with those of the program's own machine code, or else with those
  /// that fit: a run makes the kernel again with fewer.
  BlockResources block_of(const CapturedModules::Kernel& kernel, std::uint32_t threads,
                          std::uint32_t shared_bytes) const;
  void tell_of_refusal(const CapturedModules::Kernel& kernel, const BlockResources& block);
  void tell_of_fewer_registers(const CapturedModules::Kernel& kernel, std::uint32_t threads);
  /// Runs a kernel, and records it unless it is part of a recorded step.
  void execute(const CapturedModules::Kernel& kernel, const LaunchDescription& how,
               Bytes parameters, Reply& reply, bool is_recorded = true);
  /// Warns, once for each kernel, of accesses behind allocated memory.
  void warn_of_strays(const std::string& kernel);
  /// Runs a kernel of copy_kernels over `count` elements.
  void run_own(const std::string& name, std::uint64_t to, std::uint64_t count, std::uint64_t last,
               std::uint64_t stream, Reply& reply);

  const GpuParameters& gpu_;
  const std::uint32_t devices_;
  /// Pairs of devices: the first one sees the memory of the second.
  std::set<std::pair<std::uint32_t, std::uint32_t>> peers_;
  DeviceMemory memory_;
  CapturedModules modules_;
  Recorder recorder_;
  CollectiveCalls collectives_{memory_, modules_};
  std::optional<std::uint64_t> own_module_;
  std::optional<std::string> failure_;
  std::int32_t sticky_ = success;  ///< status of every call after a failed launch
  bool was_used_ = false, is_over_ = false, has_runtime_inside_ = false;
  std::uint64_t process_ = 0, time_questions_ = 0, warp_instructions_ = 0, copied_bytes_ = 0;
  double execution_seconds_ = 0;
  std::set<std::string> named_, other_runtimes_;  ///< names that have been reported
  std::set<std::string> strayed_kernels_;
  std::optional<RaceReport> races_;  ///< report of races; present if requested
  isa::InexactMemory inexact_;       ///< inexact floats in the GPU's memory
  /// Inexact floats of the last copies to the host, by host address.
  isa::InexactMemory inexact_copies_;
  std::set<std::string> told_;    ///< lines that are printed once
  std::set<std::string> warned_;  ///< files and lines of kernels that have been warned about
};

}  // namespace lockstep::capture
