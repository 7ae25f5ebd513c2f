/// Streams, events and waiting.
///
/// At capture every call is complete when it returns; a recording keeps the order.  Times of events
/// come from a counter of work: the program may divide by them, and the query is reported.
#include "jobs/capture/runtime/streams.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"

namespace lockstep::capture {
namespace {

struct Stream {
  std::uint64_t number = 0;
  unsigned flags = 0;
  int priority = 0;
  int device = 0;
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t stream = 0, time_ns = 0;
  Graph* graph = nullptr;  ///< graph into which the event's stream was captured
  int device = 0;
};

constexpr std::uintptr_t last_special_handle = 2;  // legacy and per-thread default streams

bool is_default(StreamHandle stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= last_special_handle;
}

/// Objects that programs name by handles; a released or unknown handle names no object.
template <class T>
class Handles {
 public:
  T* add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* const handle = object.get();
    objects_[handle] = std::move(object);
    return handle;
  }
  T* find(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  bool remove(void* handle) {
    const std::lock_guard lock(mutex_);
    return objects_.erase(handle) != 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<T>> objects_;
};

Handles<Stream>& streams() {
  static auto* handles = new Handles<Stream>;
  return *handles;
}

Handles<Event>& events() {
  static auto* handles = new Handles<Event>;
  return *handles;
}

/// Describes a stream whose handle is valid.
Stream described(StreamHandle stream) {
  const Stream* found = is_default(stream) ? nullptr : streams().find(stream);
  return found ? *found : Stream{.device = current_device()};
}

Error create_stream(StreamHandle* stream, unsigned flags, int priority) {
  static std::atomic<std::uint64_t> next{1};
  if (!stream) return noted(invalid_value);
  *stream =
      streams().add(std::make_unique<Stream>(Stream{next++, flags, priority, current_device()}));
  return success;
}

Error record(EventHandle event, StreamHandle stream) {
  Event* const object = events().find(event);
  if (!object || !is_stream(stream) || described(stream).device != object->device)
    return noted(invalid_handle);
  if (Graph* graph = graph_of(stream)) {
    *object = {object->flags, true, 0, 0, graph, object->device};
    return success;
  }
  const Connection::Reply reply = Connection::get().ask(Operation::event_time, {0});
  *object = {object->flags, true, stream_number(stream), reply.numbers[0], nullptr, object->device};
  return noted(reply.status);
}

using StreamCallback = void (*)(StreamHandle, Error, void*);
using HostFunction = void (*)(void*);

}  // namespace

std::uint64_t stream_number(StreamHandle stream) {
  if (const StreamHandle* all = launching_stream()) stream = *all;
  const Stream found = described(stream);
  return static_cast<std::uint64_t>(found.device) << device_shift | found.number;
}

bool is_on_current_device(StreamHandle stream) {
  return described(stream).device == current_device();
}

bool is_stream(StreamHandle stream) {
  return is_default(stream) || streams().find(stream);
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
  return noted(streams().remove(stream) ? success : invalid_handle);
}
LOCKSTEP_EXPORT Error cudaStreamGetFlags(StreamHandle stream, unsigned* flags) {
  return is_stream(stream) ? give(flags, described(stream).flags) : noted(invalid_handle);
}
LOCKSTEP_EXPORT Error cudaStreamGetPriority(StreamHandle stream, int* priority) {
  return is_stream(stream) ? give(priority, described(stream).priority) : noted(invalid_handle);
}
LOCKSTEP_EXPORT Error cudaStreamGetId(StreamHandle stream, unsigned long long* id) {
  return is_stream(stream) ? give(id, described(stream).number) : noted(invalid_handle);
}
LOCKSTEP_EXPORT Error cudaStreamGetDevice(StreamHandle stream, int* device) {
  return is_stream(stream) ? give(device, described(stream).device) : noted(invalid_handle);
}
LOCKSTEP_EXPORT Error cudaStreamSynchronize(StreamHandle stream) {
  if (!is_stream(stream)) return noted(invalid_handle);
  return noted(Connection::get().ask(Operation::synchronize, {0, stream_number(stream)}).status);
}
LOCKSTEP_EXPORT Error cudaDeviceSynchronize() {
  return noted(Connection::get().ask(Operation::synchronize, {1, stream_number(nullptr)}).status);
}
LOCKSTEP_EXPORT Error cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
LOCKSTEP_EXPORT Error cudaStreamQuery(StreamHandle stream) {
  return cudaStreamSynchronize(stream);
}
LOCKSTEP_EXPORT Error cudaStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  const Event* const object = events().find(event);
  if (!object || !is_stream(stream)) return noted(invalid_handle);
  if (!object->recorded) return success;
  if (object->graph) {
    join(stream, object->graph);
    return success;
  }
  return noted(
      Connection::get().ask(Operation::order, {stream_number(stream), object->stream}).status);
}
/// Runs the function at once: everything before it in the stream is already complete.
LOCKSTEP_EXPORT Error cudaLaunchHostFunc(StreamHandle stream, HostFunction function, void* data) {
  if (!function) return noted(invalid_value);
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
  if (!callback) return noted(invalid_value);
  if (!is_stream(stream)) return noted(invalid_handle);
  const Error error = cudaStreamSynchronize(stream);
  callback(stream, error, data);
  return error;
}
LOCKSTEP_EXPORT Error cudaStreamAttachMemAsync(StreamHandle, void*, std::size_t, unsigned) {
  return success;
}

LOCKSTEP_EXPORT Error cudaEventCreateWithFlags(EventHandle* event, unsigned flags) {
  if (!event) return noted(invalid_value);
  auto object = std::make_unique<Event>();
  object->flags = flags;
  object->device = current_device();
  *event = events().add(std::move(object));
  return success;
}
LOCKSTEP_EXPORT Error cudaEventCreate(EventHandle* event) {
  return cudaEventCreateWithFlags(event, 0);
}
LOCKSTEP_EXPORT Error cudaEventDestroy(EventHandle event) {
  return noted(events().remove(event) ? success : invalid_handle);
}
LOCKSTEP_EXPORT Error cudaEventRecord(EventHandle event, StreamHandle stream) {
  return record(event, stream);
}
LOCKSTEP_EXPORT Error cudaEventRecordWithFlags(EventHandle event, StreamHandle stream, unsigned) {
  return record(event, stream);
}
LOCKSTEP_EXPORT Error cudaEventSynchronize(EventHandle event) {
  const Event* const object = events().find(event);
  if (!object) return noted(invalid_handle);
  if (!object->recorded) return success;
  return noted(Connection::get().ask(Operation::synchronize, {0, object->stream}).status);
}
LOCKSTEP_EXPORT Error cudaEventQuery(EventHandle event) {
  return cudaEventSynchronize(event);
}
LOCKSTEP_EXPORT Error cudaEventElapsedTime(float* milliseconds, EventHandle from, EventHandle to) {
  constexpr unsigned without_time = 2;
  const Event *const begin = events().find(from), *const end = events().find(to);
  if (!milliseconds) return noted(invalid_value);
  if (!begin || !end || !begin->recorded || !end->recorded || begin->device != end->device ||
      ((begin->flags | end->flags) & without_time) != 0)
    return noted(invalid_handle);
  Connection::get().ask(Operation::event_time, {1});
  *milliseconds = static_cast<float>(static_cast<double>(end->time_ns - begin->time_ns) / 1e6);
  return success;
}

}  // namespace lockstep::capture
