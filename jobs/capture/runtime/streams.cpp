/// Streams, events and waiting.
///
/// At capture every call is done when it returns; what a recording keeps is the order.  Times of
/// events are those that a counter of work would give: the program may divide by them, and is
/// reported.
#include "jobs/capture/runtime/streams.hpp"

#include <atomic>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"

namespace lockstep::capture {
namespace {

struct Stream {
  std::uint64_t number = 0;
  unsigned flags = 0;
  int priority = 0;
};

struct Event {
  bool recorded = false;
  std::uint64_t stream = 0, time_ns = 0;
  Graph* graph = nullptr;  ///< that its stream was captured into
};

constexpr std::uintptr_t last_special_handle = 2;  // legacy and per-thread default streams

bool is_default(StreamHandle stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= last_special_handle;
}

Error create_stream(StreamHandle* stream, unsigned flags, int priority) {
  static std::atomic<std::uint64_t> next{1};
  if (!stream) return noted(invalid_value);
  *stream = new Stream{next++, flags, priority};
  return success;
}

Error record(EventHandle event, StreamHandle stream) {
  if (!event) return noted(invalid_handle);
  auto& object = *static_cast<Event*>(event);
  if (Graph* graph = graph_of(stream)) {
    object = {true, 0, 0, graph};
    return success;
  }
  const Connection::Reply reply = Connection::get().ask(Operation::event_time, {0});
  object = {true, stream_number(stream), reply.numbers[0], nullptr};
  return success;
}

using StreamCallback = void (*)(StreamHandle, Error, void*);
using HostFunction = void (*)(void*);

}  // namespace

std::uint64_t stream_number(StreamHandle stream) {
  if (const StreamHandle* all = launching_stream()) stream = *all;
  return is_default(stream) ? 0 : static_cast<Stream*>(stream)->number;
}

LOCKSTEP_EXPORT Error cudaStreamCreate(StreamHandle* stream) {
  return create_stream(stream, 0, 0);
}
LOCKSTEP_EXPORT Error cudaStreamCreateWithFlags(StreamHandle* stream, unsigned flags) {
  return create_stream(stream, flags, 0);
}
LOCKSTEP_EXPORT Error cudaStreamCreateWithPriority(StreamHandle* stream, unsigned flags,
                                                   int priority) {
  return create_stream(stream, flags, priority);
}
LOCKSTEP_EXPORT Error cudaStreamDestroy(StreamHandle stream) {
  if (is_default(stream)) return noted(invalid_handle);
  delete static_cast<Stream*>(stream);
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamGetFlags(StreamHandle stream, unsigned* flags) {
  *flags = is_default(stream) ? 0 : static_cast<Stream*>(stream)->flags;
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamGetPriority(StreamHandle stream, int* priority) {
  *priority = is_default(stream) ? 0 : static_cast<Stream*>(stream)->priority;
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamGetId(StreamHandle stream, unsigned long long* id) {
  *id = is_default(stream) ? 0 : static_cast<Stream*>(stream)->number;
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamGetDevice(StreamHandle, int* device) {
  *device = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamSynchronize(StreamHandle stream) {
  return noted(Connection::get().ask(Operation::synchronize, {0, stream_number(stream)}).status);
}
LOCKSTEP_EXPORT Error cudaDeviceSynchronize() {
  return noted(Connection::get().ask(Operation::synchronize, {1, 0}).status);
}
LOCKSTEP_EXPORT Error cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
LOCKSTEP_EXPORT Error cudaStreamQuery(StreamHandle stream) {
  return cudaStreamSynchronize(stream);
}
LOCKSTEP_EXPORT Error cudaStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  if (!event) return noted(invalid_handle);
  const auto& object = *static_cast<Event*>(event);
  if (!object.recorded) return success;
  if (object.graph) {
    join(stream, object.graph);
    return success;
  }
  return noted(
      Connection::get().ask(Operation::order, {stream_number(stream), object.stream}).status);
}
/// The host runs it when what stands before it in the stream is done, which it is.
LOCKSTEP_EXPORT Error cudaLaunchHostFunc(StreamHandle stream, HostFunction function, void* data) {
  return in_stream(
      stream,
      [stream, function, data] {
        const Error error = cudaStreamSynchronize(stream);
        function(data);
        return error;
      },
      GraphNode::Type::host);
}
LOCKSTEP_EXPORT Error cudaStreamAddCallback(StreamHandle stream, StreamCallback callback,
                                            void* data, unsigned) {
  const Error error = cudaStreamSynchronize(stream);
  callback(stream, error, data);
  return error;
}
LOCKSTEP_EXPORT Error cudaStreamAttachMemAsync(StreamHandle, void*, std::size_t, unsigned) {
  return success;
}

LOCKSTEP_EXPORT Error cudaEventCreate(EventHandle* event) {
  *event = new Event;
  return success;
}
LOCKSTEP_EXPORT Error cudaEventCreateWithFlags(EventHandle* event, unsigned) {
  return cudaEventCreate(event);
}
LOCKSTEP_EXPORT Error cudaEventDestroy(EventHandle event) {
  delete static_cast<Event*>(event);
  return success;
}
LOCKSTEP_EXPORT Error cudaEventRecord(EventHandle event, StreamHandle stream) {
  return record(event, stream);
}
LOCKSTEP_EXPORT Error cudaEventRecordWithFlags(EventHandle event, StreamHandle stream, unsigned) {
  return record(event, stream);
}
LOCKSTEP_EXPORT Error cudaEventSynchronize(EventHandle event) {
  if (!event) return noted(invalid_handle);
  const auto& object = *static_cast<Event*>(event);
  if (!object.recorded) return success;
  return noted(Connection::get().ask(Operation::synchronize, {0, object.stream}).status);
}
LOCKSTEP_EXPORT Error cudaEventQuery(EventHandle event) {
  return cudaEventSynchronize(event);
}
LOCKSTEP_EXPORT Error cudaEventElapsedTime(float* milliseconds, EventHandle from, EventHandle to) {
  const auto *begin = static_cast<Event*>(from), *end = static_cast<Event*>(to);
  if (!begin || !end || !begin->recorded || !end->recorded) return noted(invalid_handle);
  Connection::get().ask(Operation::event_time, {1});
  *milliseconds = static_cast<float>(static_cast<double>(end->time_ns - begin->time_ns) / 1e6);
  return success;
}

}  // namespace lockstep::capture
