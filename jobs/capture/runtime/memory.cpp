/// Memory that programs ask for and give back.
#include "jobs/capture/runtime/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/graphs/memory_nodes.hpp"
#include "jobs/capture/runtime/shared_pages.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {

Error allocate(void** pointer, std::size_t bytes, MemoryKind kind, const RecordedPart& part) {
  if (!pointer) return noted(invalid_value);
  *pointer = nullptr;
  if (bytes == 0) return success;
  const Connection::Reply reply = Connection::get().ask(
      Operation::allocate, {static_cast<std::uint64_t>(kind), bytes, part.begin, part.bytes,
                            static_cast<std::uint64_t>(current_device())});
  if (reply.status != success) return noted(reply.status);
  const std::uint64_t address = reply.numbers[0];
  if (kind != MemoryKind::device && !map_shared(address, bytes)) {
    Connection::get().ask(Operation::release, {address});
    return noted(memory_allocation);
  }
  AddressBook::get().add(
      {.address = address, .bytes = bytes, .kind = kind, .device = current_device()});
  if (kind == MemoryKind::managed) track_pages(address, bytes);
  *pointer = reinterpret_cast<void*>(address);
  return success;
}

Error release(void* pointer, Releaser releaser) {
  if (!pointer) return success;
  if (const FreedOfGraph freed = free_of_graph(pointer); freed != FreedOfGraph::none)
    return noted(freed == FreedOfGraph::freed ? success : invalid_value);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const auto allocation = AddressBook::get().find(pointer);
  if (!allocation || allocation->address != address || !allocation->is_freed_by(releaser))
    return noted(invalid_value);
  AddressBook::get().remove(address);
  report_touches();
  forget_pages(address);
  const Error error = Connection::get().ask(Operation::release, {address}).status;
  if (allocation->kind != MemoryKind::device) unmap_shared(address, allocation->bytes);
  return noted(error);
}

namespace {

constexpr std::size_t pitch_alignment = 512;

Error advise(const void* pointer, std::size_t bytes, int advice, bool to_host) {
  constexpr int set_read_mostly = 1, unset_read_mostly = 2, set_preferred = 3, unset_preferred = 4;
  Advice meaning = Advice::prefer_none;
  if (advice == set_read_mostly) {
    meaning = Advice::read_mostly;
  } else if (advice == unset_read_mostly) {
    meaning = Advice::not_read_mostly;
  } else if (advice == set_preferred) {
    meaning = to_host ? Advice::prefer_host : Advice::prefer_gpu;
  } else if (advice != unset_preferred) {
    return success;  // accessed-by needs nothing: the machine maps on demand
  }
  return noted(Connection::get()
                   .ask(Operation::advise, {reinterpret_cast<std::uint64_t>(pointer), bytes,
                                            static_cast<std::uint64_t>(meaning)})
                   .status);
}

Error prefetch(const void* pointer, std::size_t bytes, bool to_host, StreamHandle stream) {
  if (!is_stream(stream)) return noted(invalid_handle);
  report_touches();
  take_pages();
  return noted(Connection::get()
                   .ask(Operation::prefetch, {reinterpret_cast<std::uint64_t>(pointer), bytes,
                                              to_host ? 0u : 1u, stream_number(stream)})
                   .status);
}

}  // namespace

LOCKSTEP_EXPORT Error cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::device);
}
LOCKSTEP_EXPORT Error cudaMallocAsync(void** pointer, std::size_t bytes, StreamHandle stream) {
  return is_stream(stream) ? allocate_in(stream, pointer, bytes) : noted(invalid_handle);
}
LOCKSTEP_EXPORT Error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, void*,
                                              StreamHandle stream) {
  return cudaMallocAsync(pointer, bytes, stream);
}
LOCKSTEP_EXPORT Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryKind::managed);
}
LOCKSTEP_EXPORT Error cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::pinned);
}
LOCKSTEP_EXPORT Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryKind::pinned);
}
LOCKSTEP_EXPORT Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                      std::size_t height) {
  if (!pointer || !pitch) return noted(invalid_value);
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  return cudaMalloc(pointer, *pitch * height);
}
LOCKSTEP_EXPORT Error cudaMalloc3D(PitchedPointer* pitched, Extent extent) {
  if (!pitched) return noted(invalid_value);
  pitched->width = extent.width;
  pitched->height = extent.height;
  return cudaMallocPitch(&pitched->pointer, &pitched->pitch, extent.width,
                         extent.height * extent.depth);
}
LOCKSTEP_EXPORT Error cudaFree(void* pointer) {
  return release(pointer, Releaser::device);
}
LOCKSTEP_EXPORT Error cudaFreeAsync(void* pointer, StreamHandle stream) {
  if (!pointer) return noted(invalid_value);
  return is_stream(stream) ? release_in(stream, pointer) : noted(invalid_handle);
}
LOCKSTEP_EXPORT Error cudaFreeHost(void* pointer) {
  return release(pointer, Releaser::host);
}
LOCKSTEP_EXPORT Error cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  const auto found = AddressBook::get().find(host);
  if (!device || !found || found->kind == MemoryKind::device) return noted(invalid_value);
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(host) - found->address;
  *device = found->on_gpu == 0 ? host : reinterpret_cast<void*>(found->on_gpu + offset);
  return success;
}
LOCKSTEP_EXPORT Error cudaHostGetFlags(unsigned* flags, void* host) {
  return AddressBook::get().find(host) ? give(flags, 0u) : noted(invalid_value);
}
LOCKSTEP_EXPORT Error cudaMemGetInfo(std::size_t* left, std::size_t* total) {
  const Connection::Reply reply =
      Connection::get().ask(Operation::memory_left, {static_cast<std::uint64_t>(current_device())});
  if (!left || !total) return noted(invalid_value);
  *left = reply.numbers[0];
  *total = reply.numbers[1];
  return noted(reply.status);
}
LOCKSTEP_EXPORT Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  if (!attributes) return noted(invalid_value);
  *attributes = {};
  const auto found = AddressBook::get().find(pointer);
  if (!found) {
    attributes->host_pointer = const_cast<void*>(pointer);
    return success;
  }
  constexpr int host = 1, device = 2, managed = 3;
  attributes->type = found->kind == MemoryKind::device   ? device
                     : found->kind == MemoryKind::pinned ? host
                                                         : managed;
  attributes->device = found->device;
  attributes->device_pointer = const_cast<void*>(pointer);
  if (found->kind != MemoryKind::device) attributes->host_pointer = attributes->device_pointer;
  if (found->on_gpu != 0)
    attributes->device_pointer = reinterpret_cast<void*>(
        found->on_gpu + reinterpret_cast<std::uint64_t>(pointer) - found->address);
  return success;
}

#if LOCKSTEP_CUDA_MAJOR >= 13
LOCKSTEP_EXPORT Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice,
                                    MemoryLocation location) {
  return advise(pointer, bytes, advice, location.type != 1);
}
LOCKSTEP_EXPORT Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                           MemoryLocation location, unsigned, StreamHandle stream) {
  return prefetch(pointer, bytes, location.type != 1, stream);
}
#else
LOCKSTEP_EXPORT Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice,
                                    int device) {
  return advise(pointer, bytes, advice, device < 0);
}
LOCKSTEP_EXPORT Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                           StreamHandle stream) {
  return prefetch(pointer, bytes, device < 0, stream);
}
#endif

}  // namespace lockstep::capture
