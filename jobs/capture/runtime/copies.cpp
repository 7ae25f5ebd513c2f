/// Copies and fills in all forms.
#include "jobs/capture/runtime/copies.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/device/current_device.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/streams.hpp"
#include "jobs/capture/runtime/textures/array_copies.hpp"

namespace lockstep::capture {
namespace {

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

/// Returns whether a copy takes the memory for the GPU's: memory of the host that the GPU sees is
/// the host's.
bool is_on_gpu(const void* pointer) {
  return AddressBook::get().is_device(pointer);
}

/// Returns whether one end of a copy or fill exists: allocated memory, up to its end, or memory of
/// the program's own.  `lockstep capture` checks memory on the device.
bool is_there(const void* pointer, std::size_t bytes, bool must_be_allocated) {
  const auto found = AddressBook::get().find(pointer);
  if (!found) return !must_be_allocated && is_mapped(pointer, bytes);
  return found->kind == MemoryKind::device ||
         bytes <= found->bytes - (number(pointer) - found->address);
}

Error check_ends(const void* to, const void* from, std::size_t bytes, int kind) {
  if (kind < host_to_host || kind > by_address) return invalid_copy_direction;
  const bool to_allocated = kind == host_to_device || kind == device_to_device,
             from_allocated = kind == device_to_host || kind == device_to_device;
  return is_there(to, bytes, to_allocated) && is_there(from, bytes, from_allocated)
             ? Error{success}
             : Error{invalid_value};
}

}  // namespace

bool is_mapped(const void* pointer, std::size_t bytes) {
  constexpr std::uint64_t page = 4096;
  const std::uint64_t first = number(pointer) / page * page;
  if (number(pointer) + bytes < number(pointer)) return false;
  return ::msync(reinterpret_cast<void*>(first), number(pointer) + bytes - first, MS_ASYNC) == 0;
}

Error copy_row(void* to, const void* from, std::size_t bytes, int kind, const Order& order) {
  if (bytes == 0) return success;
  const bool to_gpu = is_on_gpu(to), from_gpu = is_on_gpu(from);
  if (const Error error = check_ends(to, from, bytes, kind); error != success) return error;
  Connection& connection = Connection::get();
  if (to_gpu && from_gpu)
    return connection
        .ask(Operation::copy_within, {number(to), number(from), bytes, order.stream, order.waits})
        .status;
  if (to_gpu)
    return connection
        .ask(Operation::copy_in, {number(to), order.stream, order.waits},
             {static_cast<const char*>(from), bytes})
        .status;
  if (from_gpu)
    return connection.ask_into(Operation::copy_out,
                               {number(from), bytes, order.stream, order.waits}, to);
  const Error error = connection.ask(Operation::synchronize, {0, order.stream}).status;
  std::memmove(to, from, bytes);
  return error;
}

Error copy_rows(const Rows& rows, int kind, const Order& order) {
  if (rows.width > rows.to_pitch || rows.width > rows.from_pitch) return 12;  // invalid pitch
  if (rows.width == rows.to_pitch && rows.width == rows.from_pitch)
    return copy_row(rows.to, rows.from, rows.width * rows.height, kind, order);
  for (std::size_t y = 0; y < rows.height; ++y) {
    const Error error = copy_row(rows.to + y * rows.to_pitch, rows.from + y * rows.from_pitch,
                                 rows.width, kind, order);
    if (error != success) return error;
  }
  return success;
}

Error copy_volume(const Copy3D& asked, const Order& order) {
  const Copy3D copy = without_arrays(asked);
  const auto place = [](const PitchedPointer& base, const Position& at, std::size_t z) {
    return static_cast<char*>(base.pointer) + ((at.z + z) * base.height + at.y) * base.pitch + at.x;
  };
  for (std::size_t z = 0; z < copy.extent.depth; ++z) {
    const Error error = copy_rows(
        {place(copy.target, copy.target_position, z), place(copy.source, copy.source_position, z),
         copy.target.pitch, copy.source.pitch, copy.extent.width, copy.extent.height},
        copy.kind, order);
    if (error != success) return error;
  }
  return success;
}

Error fill_row(void* to, const Pattern& pattern, std::size_t bytes, std::uint64_t stream) {
  if (bytes == 0) return success;
  if (number(to) % pattern.bytes != 0 || bytes % pattern.bytes != 0) return invalid_value;
  if (is_on_gpu(to))
    return Connection::get()
        .ask(Operation::fill, {number(to), bytes, pattern.value, pattern.bytes, stream})
        .status;
  if (!is_there(to, bytes, true)) return invalid_value;
  for (std::size_t at = 0; at < bytes; at += pattern.bytes)
    std::memcpy(static_cast<char*>(to) + at, &pattern.value, pattern.bytes);
  return success;
}

Error fill_rows(void* to, std::size_t pitch, const Pattern& pattern, std::size_t width,
                std::size_t height, std::uint64_t stream) {
  if (width > pitch && height > 1) return invalid_value;
  if (width == pitch) return fill_row(to, pattern, width * height, stream);
  for (std::size_t y = 0; y < height; ++y) {
    const Error error = fill_row(static_cast<char*>(to) + y * pitch, pattern, width, stream);
    if (error != success) return error;
  }
  return success;
}

Error copy_symbol(const void* symbol, void* host, std::size_t bytes, std::size_t offset,
                  bool to_symbol, int kind, const Order& order) {
  const Variable* variable = AddressBook::get().variable(symbol);
  if (!variable) return last_error(false);
  if (offset > variable->bytes || bytes > variable->bytes - offset) return invalid_value;
  void* const place = reinterpret_cast<void*>(variable->address + offset);
  return to_symbol ? copy_row(place, host, bytes, kind, order)
                   : copy_row(host, place, bytes, kind, order);
}

Order in(StreamHandle stream) {
  return {stream_number(stream), false};
}

namespace {

Pattern byte(int value) {
  return {static_cast<unsigned char>(value), 1};
}

/// Slices that are as high as the memory are one piece.
Error fill_volume(const PitchedPointer& to, int value, const Extent& extent, std::uint64_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const Error error = fill_rows(static_cast<char*>(to.pointer) + z * to.height * to.pitch,
                                  to.pitch, byte(value), extent.width, extent.height, stream);
    if (error != success) return error;
  }
  return success;
}

constexpr auto a_fill = GraphNode::Type::fill;

}  // namespace

LOCKSTEP_EXPORT Error cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return noted(copy_row(to, from, bytes, kind, {}));
}
LOCKSTEP_EXPORT Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                      StreamHandle stream) {
  return in_stream(stream, [=] { return copy_row(to, from, bytes, kind, in(stream)); });
}
LOCKSTEP_EXPORT Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   int kind) {
  return noted(copy_rows(
      {static_cast<char*>(to), static_cast<const char*>(from), to_pitch, from_pitch, width, height},
      kind, {}));
}
LOCKSTEP_EXPORT Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                        std::size_t from_pitch, std::size_t width,
                                        std::size_t height, int kind, StreamHandle stream) {
  return in_stream(stream, [=] {
    return copy_rows({static_cast<char*>(to), static_cast<const char*>(from), to_pitch, from_pitch,
                      width, height},
                     kind, in(stream));
  });
}
LOCKSTEP_EXPORT Error cudaMemcpy3D(const Copy3D* copy) {
  return noted(copy ? copy_volume(*copy, {}) : Error{invalid_value});
}
LOCKSTEP_EXPORT Error cudaMemcpy3DAsync(const Copy3D* copy, StreamHandle stream) {
  if (!copy) return noted(invalid_value);
  return in_stream(stream, [copy = *copy, stream] { return copy_volume(copy, in(stream)); });
}
LOCKSTEP_EXPORT Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, int kind) {
  return noted(copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true, kind, {}));
}
LOCKSTEP_EXPORT Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                              std::size_t bytes, std::size_t offset, int kind,
                                              StreamHandle stream) {
  return in_stream(stream, [=] {
    return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true, kind, in(stream));
  });
}
LOCKSTEP_EXPORT Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                           std::size_t offset, int kind) {
  return noted(copy_symbol(symbol, to, bytes, offset, false, kind, {}));
}
LOCKSTEP_EXPORT Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                std::size_t offset, int kind, StreamHandle stream) {
  return in_stream(stream,
                   [=] { return copy_symbol(symbol, to, bytes, offset, false, kind, in(stream)); });
}
namespace {

/// Checks that the memory is on the named device; for the copy itself the addresses suffice.
Error check_place(const void* pointer, int named) {
  if (!is_device_number(named)) return invalid_device;
  const auto found = AddressBook::get().find(pointer);
  const bool is_elsewhere = found && found->kind == MemoryKind::device && found->device != named;
  return is_elsewhere ? invalid_value : Error{success};
}

Error check_places(const void* to, int to_device, const void* from, int from_device) {
  const Error error = check_place(to, to_device);
  return error != success ? error : check_place(from, from_device);
}

}  // namespace

LOCKSTEP_EXPORT Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                     std::size_t bytes) {
  const Error error = check_places(to, to_device, from, from_device);
  return error != success ? noted(error) : cudaMemcpy(to, from, bytes, by_address);
}
LOCKSTEP_EXPORT Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                          int from_device, std::size_t bytes, StreamHandle stream) {
  const Error error = check_places(to, to_device, from, from_device);
  return error != success ? noted(error) : cudaMemcpyAsync(to, from, bytes, by_address, stream);
}
Error copy_batch(void* const* to, const void* const* from, const std::size_t* bytes,
                 std::size_t count, std::size_t* failed, StreamHandle stream) {
  if (count == 0 || !to || !from || !bytes) return noted(invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    const Error error = cudaMemcpyAsync(to[i], from[i], bytes[i], by_address, stream);
    if (error == success) continue;
    if (failed) *failed = i;
    return error;
  }
  return success;
}
#if LOCKSTEP_CUDA_MAJOR >= 13
LOCKSTEP_EXPORT Error cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                           const std::size_t* bytes, std::size_t count, const void*,
                                           const std::size_t*, std::size_t, StreamHandle stream) {
  return copy_batch(to, from, bytes, count, nullptr, stream);
}
#else
LOCKSTEP_EXPORT Error cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                           const std::size_t* bytes, std::size_t count, const void*,
                                           const std::size_t*, std::size_t, std::size_t* failed,
                                           StreamHandle stream) {
  return copy_batch(to, from, bytes, count, failed, stream);
}
#endif
LOCKSTEP_EXPORT Error cudaGetSymbolAddress(void** address, const void* symbol) {
  const Variable* variable = AddressBook::get().variable(symbol);
  if (!variable) return last_error(false);
  return give(address, reinterpret_cast<void*>(variable->address));
}
LOCKSTEP_EXPORT Error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  const Variable* variable = AddressBook::get().variable(symbol);
  if (!variable) return last_error(false);
  return give(bytes, variable->bytes);
}

LOCKSTEP_EXPORT Error cudaMemset(void* to, int value, std::size_t bytes) {
  return noted(fill_row(to, byte(value), bytes, stream_number(nullptr)));
}
LOCKSTEP_EXPORT Error cudaMemsetAsync(void* to, int value, std::size_t bytes, StreamHandle stream) {
  return in_stream(
      stream, [=] { return fill_row(to, byte(value), bytes, stream_number(stream)); }, a_fill);
}
LOCKSTEP_EXPORT Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height) {
  return noted(fill_rows(to, pitch, byte(value), width, height, stream_number(nullptr)));
}
LOCKSTEP_EXPORT Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height, StreamHandle stream) {
  return in_stream(
      stream,
      [=] { return fill_rows(to, pitch, byte(value), width, height, stream_number(stream)); },
      a_fill);
}
LOCKSTEP_EXPORT Error cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return noted(fill_volume(to, value, extent, stream_number(nullptr)));
}
LOCKSTEP_EXPORT Error cudaMemset3DAsync(PitchedPointer to, int value, Extent extent,
                                        StreamHandle stream) {
  return in_stream(
      stream, [=] { return fill_volume(to, value, extent, stream_number(stream)); }, a_fill);
}

}  // namespace lockstep::capture
