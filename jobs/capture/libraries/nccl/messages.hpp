/// Calls of all ranks that have met, on their way to `lockstep capture`.
#pragma once

#include <vector>

#include "jobs/capture/libraries/nccl/communicators.hpp"
#include "jobs/capture/runtime/collectives/collectives.hpp"

namespace lockstep::capture::nccl {

/// Both ends of a message.
struct Message {
  Call send, receive;
  int from_device, to_device;
  int from, to;  ///< ranks
};

CollectiveEntry collective_entry();
/// Executes a collective, given a call of each rank in their order.
int do_collective(const std::vector<Call>& calls, const std::vector<int>& devices);
/// Sets the results of all calls.
void exchange(const std::vector<Message>& messages);

}  // namespace lockstep::capture::nccl
