/// Calls of NCCL at capture: the buffers and kernels of a collective.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "jobs/capture/captured_modules.hpp"
#include "jobs/capture/device_memory.hpp"
#include "jobs/capture/protocol.hpp"
#include "models/workload/recording/collective_parts.hpp"

namespace lockstep::capture {

class CollectiveCalls {
 public:
  CollectiveCalls(DeviceMemory& memory, CapturedModules& modules)
      : memory_(memory), modules_(modules) {}

  struct Call {
    RecordedCollective collective;
    std::vector<std::uint64_t> streams;    ///< streams of the members, as in protocol.hpp
    std::vector<std::uint64_t> receivers;  ///< streams of devices that get messages
    /// Function that combines, or copies within a GPU; every collective needs one.
    std::uint64_t function = 0;
  };
  /// Prepares a collective.  Returns nothing, with an error and a member's number for the program,
  /// where memory does not exist. Throws BrokenRequest for requests that Lockstep's library never
  /// makes.
  std::optional<Call> prepare(const Request& request, std::span<const std::byte> bytes,
                              Answer& answer);

 private:
  struct Scratch {
    std::uint64_t address = 0, bytes = 0;
  };
  /// Returns whether the memory is on this device.
  bool is_on(std::uint64_t device, std::uint64_t address, std::uint64_t bytes) const;
  bool has_buffers(const Call& call, std::size_t member) const;
  bool set_messages(Call& call, Answer& answer) const;
  /// Returns memory of at least `bytes` bytes on a device; 0: there is no room.
  std::uint64_t scratch(std::uint32_t device, std::uint64_t bytes);
  std::uint64_t function(const std::string& name, const std::string& ptx);

  DeviceMemory& memory_;
  CapturedModules& modules_;
  std::map<std::uint32_t, Scratch> scratch_;        ///< scratch memory of each device
  std::map<std::string, std::uint64_t> functions_;  ///< function of each kernel
};

}  // namespace lockstep::capture
