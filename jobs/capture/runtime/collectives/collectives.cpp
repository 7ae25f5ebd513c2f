#include "jobs/capture/runtime/collectives/collectives.hpp"

#include <vector>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {
namespace {

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

/// The default stream is that of the end's device.
Error set_stream(const CollectiveCallEnd& from, CollectiveEnd& end) {
  const int before = current_device();
  set_current_device(from.device);
  Error error = success;
  if (!is_stream(from.stream) || !is_on_current_device(from.stream)) {
    error = invalid_handle;
  } else if (graph_of(from.stream)) {
    error = unsupported("NCCL in a stream that is captured into a graph");
  } else {
    end.stream = stream_number(from.stream);
  }
  set_current_device(before);
  return error;
}

}  // namespace

/// Takes a collective from libnccl.
LOCKSTEP_EXPORT Error cudaLockstepCollective(const std::uint64_t* numbers,
                                             const CollectiveCallEnd* calls, std::size_t count,
                                             int* failed) {
  std::vector<CollectiveEnd> ends(count);
  for (std::size_t k = 0; k < count; ++k) {
    ends[k] = {address(calls[k].send), address(calls[k].receive), 0, calls[k].count};
    *failed = static_cast<int>(k);
    if (const Error error = set_stream(calls[k], ends[k]); error != success) return error;
  }
  const Connection::Reply reply = Connection::get().ask(
      Operation::collective, {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]},
      {reinterpret_cast<const char*>(ends.data()), ends.size() * sizeof(CollectiveEnd)});
  *failed = static_cast<int>(reply.numbers[0]);
  return reply.status;
}

}  // namespace lockstep::capture
