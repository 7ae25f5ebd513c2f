/// Collectives of a captured program, executed part by part as a replay will execute them.
#include <array>
#include <cstring>

#include "jobs/capture/broken_request.hpp"
#include "jobs/capture/session.hpp"

namespace lockstep::capture {

void Session::collective(const Request& request, Bytes bytes, Reply& reply) {
  std::optional<CollectiveCalls::Call> call = collectives_.prepare(request, bytes, reply.answer);
  if (!call) return;
  for (const std::uint64_t stream : call->streams) stream_of(stream);
  RecordedCollective& recorded = call->collective;
  recorded.kernel = recorder_.kernel(modules_.kernel(call->function).recorded_name);
  recorder_.note_cpu_writes();
  recorder_.collective(recorded, call->streams, call->receivers);
  for (const CollectivePart& part : parts_of(recorded)) {
    if (part.kind == CollectivePart::Kind::copy) copy_part(part);
    if (part.is_launch()) run_part(part, call->function, reply);
    if (reply.answer.status != success) return;
  }
}

void Session::copy_part(const CollectivePart& part) {
  const std::span<std::byte> to = memory_.find(part.to, part.bytes),
                             from = memory_.find(part.one, part.bytes);
  require(to.size() == part.bytes && from.size() == part.bytes, "its memory is not there");
  std::memmove(to.data(), from.data(), to.size());
  copied_bytes_ += to.size();
  inexact_.copy(part.to, inexact_, part.one, part.bytes);
}

/// The collective is recorded, and its kernels are not.
void Session::run_part(const CollectivePart& part, std::uint64_t function, Reply& reply) {
  const CollectiveArguments arguments{part.to, part.one, part.other, part.count, part.divisor};
  LaunchDescription how;
  how.function = function;
  how.blocks[0] =
      static_cast<std::uint32_t>((part.count + collective_threads - 1) / collective_threads);
  how.threads[0] = collective_threads;
  how.stream = part.stream / recording_format::streams_of_a_device << device_shift;
  std::array<std::byte, CollectiveArguments::bytes> parameters;
  std::memcpy(parameters.data(), &arguments, parameters.size());
  execute(modules_.kernel(function), how, parameters, reply, false);
}

}  // namespace lockstep::capture
