/// Memory, copies and fills.
#include "jobs/capture/runtime/memory.hpp"

#include <cstring>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/copies.hpp"
#include "jobs/capture/runtime/driver/driver.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/graphs/memory_nodes.hpp"
#include "jobs/capture/runtime/streams.hpp"
#include "jobs/capture/runtime/textures/arrays.hpp"

namespace lockstep::capture::driver {
namespace {

enum MemoryType : int { host_memory = 1, device_memory = 2, array_memory = 3, unified_memory = 4 };

/// An end of a copy.
struct End2D {
  std::size_t x_bytes, y;
  int type;
  void* on_host;
  DeviceAddress on_device;
  const Array* array;
  std::size_t pitch;
};
struct Copy2D {
  End2D source, target;
  std::size_t width_bytes, height;
};
static_assert(sizeof(Copy2D) == 128);

struct End3D {
  std::size_t x_bytes, y, z, level;
  int type;
  void* on_host;
  DeviceAddress on_device;
  const Array* array;
  void* reserved;
  std::size_t pitch, height;
};
struct DriverCopy3D {
  End3D source, target;
  std::size_t width_bytes, height, depth;
};
static_assert(sizeof(DriverCopy3D) == 200);

template <class End>
char* base_of(const End& end) {
  if (end.type == array_memory) return end.array->texels;
  return static_cast<char*>(end.type == host_memory ? end.on_host : pointer(end.on_device));
}

/// Without a pitch, rows are contiguous.
template <class End>
std::size_t pitch_of(const End& end, std::size_t width_bytes) {
  if (end.type == array_memory) return end.array->pitch;
  return end.pitch != 0 ? end.pitch : width_bytes;
}

/// Returns whether the end of the copy names its kind of memory.
template <class End>
bool is_end(const End& end) {
  return end.type >= host_memory && end.type <= unified_memory &&
         (end.type != array_memory || end.array);
}

Error copy_area(const Copy2D& copy, const Order& order) {
  if (!is_end(copy.source) || !is_end(copy.target)) return invalid_value;
  const std::size_t to_pitch = pitch_of(copy.target, copy.width_bytes),
                    from_pitch = pitch_of(copy.source, copy.width_bytes);
  const auto begin = [](const End2D& end, std::size_t pitch) {
    return base_of(end) + end.y * pitch + end.x_bytes;
  };
  return copy_rows({begin(copy.target, to_pitch), begin(copy.source, from_pitch), to_pitch,
                    from_pitch, copy.width_bytes, copy.height},
                   by_address, order);
}

PitchedPointer place_of(const End3D& end, const DriverCopy3D& copy) {
  const std::size_t height = end.height != 0 ? end.height : copy.height;
  return {base_of(end), pitch_of(end, copy.width_bytes), copy.width_bytes,
          end.type == array_memory ? end.array->height() : height};
}

Error copy_box(const DriverCopy3D& copy, const Order& order) {
  if (!is_end(copy.source) || !is_end(copy.target)) return invalid_value;
  Copy3D as_runtime;
  as_runtime.source = place_of(copy.source, copy);
  as_runtime.source_position = {copy.source.x_bytes, copy.source.y, copy.source.z};
  as_runtime.target = place_of(copy.target, copy);
  as_runtime.target_position = {copy.target.x_bytes, copy.target.y, copy.target.z};
  as_runtime.extent = {copy.width_bytes, copy.height, copy.depth};
  return copy_volume(as_runtime, order);
}

Error copy(void* to, const void* from, std::size_t bytes) {
  return copy_row(to, from, bytes, by_address, {});
}

Error copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) {
  return apart([&] {
    return in_stream(stream, [=] { return copy_row(to, from, bytes, by_address, in(stream)); });
  });
}

/// `count`: number of values.
Error fill(DeviceAddress to, const Pattern& pattern, std::size_t count) {
  return fill_row(pointer(to), pattern, count * pattern.bytes, 0);
}

Error fill(DeviceAddress to, const Pattern& pattern, std::size_t count, StreamHandle stream) {
  return apart([&] {
    return in_stream(
        stream,
        [=] {
          return fill_row(pointer(to), pattern, count * pattern.bytes, stream_number(stream));
        },
        GraphNode::Type::fill);
  });
}

Error fill_area(DeviceAddress to, std::size_t pitch, const Pattern& pattern, std::size_t width,
                std::size_t height) {
  return fill_rows(pointer(to), pitch, pattern, width * pattern.bytes, height, 0);
}

Pattern word(std::uint32_t value) {
  return {value, 4};
}
Pattern half(std::uint16_t value) {
  return {value, 2};
}
Pattern byte(unsigned char value) {
  return {value, 1};
}

}  // namespace

LOCKSTEP_DRIVER Error cuMemAlloc_v2(void** to, std::size_t bytes) {
  if (bytes == 0) return invalid_value;
  return apart([&] { return allocate(to, bytes, MemoryKind::device); });
}
LOCKSTEP_DRIVER Error cuMemAllocPitch_v2(void** to, std::size_t* pitch, std::size_t width,
                                         std::size_t height, unsigned) {
  constexpr std::size_t alignment = 512;
  if (!pitch) return invalid_value;
  *pitch = (width + alignment - 1) / alignment * alignment;
  return cuMemAlloc_v2(to, *pitch * height);
}
LOCKSTEP_DRIVER Error cuMemAllocAsync(void** to, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return invalid_value;
  return apart([&] { return allocate_in(stream, to, bytes); });
}
LOCKSTEP_DRIVER Error cuMemFree_v2(void* memory) {
  return apart([&] { return release(memory, Releaser::device); });
}
LOCKSTEP_DRIVER Error cuMemFreeAsync(void* memory, StreamHandle stream) {
  return apart([&] { return release_in(stream, memory); });
}
LOCKSTEP_DRIVER Error cuMemGetAddressRange_v2(DeviceAddress* base, std::size_t* bytes,
                                              void* memory) {
  const auto found = AddressBook::get().find(memory);
  if (!found) return not_found;
  if (base) *base = found->address;
  if (bytes) *bytes = found->bytes;
  return success;
}
LOCKSTEP_DRIVER Error cuMemAllocHost_v2(void** to, std::size_t bytes) {
  return apart([&] { return allocate(to, bytes, MemoryKind::pinned); });
}
LOCKSTEP_DRIVER Error cuMemHostAlloc(void** to, std::size_t bytes, unsigned) {
  return cuMemAllocHost_v2(to, bytes);
}
LOCKSTEP_DRIVER Error cuMemAllocManaged(void** to, std::size_t bytes, unsigned) {
  return apart([&] { return allocate(to, bytes, MemoryKind::managed); });
}
LOCKSTEP_DRIVER Error cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  return apart([&] { return register_host(memory, bytes); });
}
LOCKSTEP_DRIVER Error cuMemHostUnregister(void* memory) {
  return apart([&] { return unregister_host(memory); });
}

LOCKSTEP_DRIVER Error cuMemcpy(void* to, const void* from, std::size_t bytes) {
  return copy(to, from, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
  return copy(to, from, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
  return copy(to, from, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyDtoD_v2(void* to, const void* from, std::size_t bytes) {
  return copy(to, from, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                    StreamHandle stream) {
  return copy(to, from, bytes, stream);
}
LOCKSTEP_DRIVER Error cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes,
                                           StreamHandle stream) {
  return copy(to, from, bytes, stream);
}
LOCKSTEP_DRIVER Error cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes,
                                           StreamHandle stream) {
  return copy(to, from, bytes, stream);
}
LOCKSTEP_DRIVER Error cuMemcpyDtoDAsync_v2(void* to, const void* from, std::size_t bytes,
                                           StreamHandle stream) {
  return copy(to, from, bytes, stream);
}
LOCKSTEP_DRIVER Error cuMemcpyBatchAsync_v2(void* const* to, const void* const* from,
                                            const std::size_t* bytes, std::size_t count,
                                            const void*, const std::size_t*, std::size_t,
                                            StreamHandle stream) {
  return apart([&] { return copy_batch(to, from, bytes, count, nullptr, stream); });
}
LOCKSTEP_DRIVER Error cuMemcpyBatchAsync(void* const* to, const void* const* from,
                                         const std::size_t* bytes, std::size_t count, const void*,
                                         const std::size_t*, std::size_t, std::size_t* failed,
                                         StreamHandle stream) {
  return apart([&] { return copy_batch(to, from, bytes, count, failed, stream); });
}
LOCKSTEP_DRIVER Error cuMemcpy2D_v2(const Copy2D* area) {
  return area ? copy_area(*area, {}) : Error{invalid_value};
}
LOCKSTEP_DRIVER Error cuMemcpy2DUnaligned_v2(const Copy2D* area) {
  return area ? copy_area(*area, {}) : Error{invalid_value};
}
LOCKSTEP_DRIVER Error cuMemcpy2DAsync_v2(const Copy2D* area, StreamHandle stream) {
  if (!area) return invalid_value;
  return apart([&] {
    return in_stream(stream, [area = *area, stream] { return copy_area(area, in(stream)); });
  });
}
LOCKSTEP_DRIVER Error cuMemcpy3D_v2(const DriverCopy3D* box) {
  return box ? copy_box(*box, {}) : Error{invalid_value};
}
LOCKSTEP_DRIVER Error cuMemcpy3DAsync_v2(const DriverCopy3D* box, StreamHandle stream) {
  if (!box) return invalid_value;
  return apart([&] {
    return in_stream(stream, [box = *box, stream] { return copy_box(box, in(stream)); });
  });
}

LOCKSTEP_DRIVER Error cuMemsetD8_v2(DeviceAddress to, unsigned char value, std::size_t count) {
  return fill(to, byte(value), count);
}
LOCKSTEP_DRIVER Error cuMemsetD16_v2(DeviceAddress to, std::uint16_t value, std::size_t count) {
  return fill(to, half(value), count);
}
LOCKSTEP_DRIVER Error cuMemsetD32_v2(DeviceAddress to, std::uint32_t value, std::size_t count) {
  return fill(to, word(value), count);
}
LOCKSTEP_DRIVER Error cuMemsetD8Async(DeviceAddress to, unsigned char value, std::size_t count,
                                      StreamHandle stream) {
  return fill(to, byte(value), count, stream);
}
LOCKSTEP_DRIVER Error cuMemsetD16Async(DeviceAddress to, std::uint16_t value, std::size_t count,
                                       StreamHandle stream) {
  return fill(to, half(value), count, stream);
}
LOCKSTEP_DRIVER Error cuMemsetD32Async(DeviceAddress to, std::uint32_t value, std::size_t count,
                                       StreamHandle stream) {
  return fill(to, word(value), count, stream);
}
LOCKSTEP_DRIVER Error cuMemsetD2D8_v2(DeviceAddress to, std::size_t pitch, unsigned char value,
                                      std::size_t width, std::size_t height) {
  return fill_area(to, pitch, byte(value), width, height);
}
LOCKSTEP_DRIVER Error cuMemsetD2D16_v2(DeviceAddress to, std::size_t pitch, std::uint16_t value,
                                       std::size_t width, std::size_t height) {
  return fill_area(to, pitch, half(value), width, height);
}
LOCKSTEP_DRIVER Error cuMemsetD2D32_v2(DeviceAddress to, std::size_t pitch, std::uint32_t value,
                                       std::size_t width, std::size_t height) {
  return fill_area(to, pitch, word(value), width, height);
}

/// Returns an attribute of a pointer, by the attribute's number.
LOCKSTEP_DRIVER Error cuPointerGetAttribute(void* to, int attribute, void* memory) {
  const auto found = AddressBook::get().find(memory);
  if (!found || !to) return invalid_value;
  const auto address = reinterpret_cast<DeviceAddress>(memory);
  const auto give = [&](auto value) -> Error {
    std::memcpy(to, &value, sizeof value);
    return success;
  };
  const bool is_device = found->kind == MemoryKind::device;
  switch (attribute) {
    case 2:
      return give(
          static_cast<int>(found->kind == MemoryKind::pinned ? host_memory : device_memory));
    case 3:
      return give(found->on_gpu == 0 ? address : found->on_gpu + address - found->address);
    case 4:
      return is_device ? Error{invalid_value} : give(address);
    case 8:
      return give(found->kind == MemoryKind::managed ? 1 : 0);
    case 9:
      return give(0);
    case 11:
      return give(found->address);
    case 12:
      return give(found->bytes);
    case 13:
      return give(1);
    default:
      return invalid_value;
  }
}

}  // namespace lockstep::capture::driver
