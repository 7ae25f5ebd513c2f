#include "jobs/capture/runtime/textures/array_copies.hpp"

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/textures/arrays.hpp"

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   int kind);
LOCKSTEP_EXPORT Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                        std::size_t from_pitch, std::size_t width,
                                        std::size_t height, int kind, StreamHandle stream);

Copy3D without_arrays(const Copy3D& copy) {
  Copy3D flat = copy;
  const Array *from = static_cast<const Array*>(copy.source_array),
              *to = static_cast<const Array*>(copy.target_array);
  const auto flatten = [](const Array* array, PitchedPointer& pointer, Position& position) {
    if (!array) return;
    pointer = {array->texels, array->pitch, array->row_bytes(), array->height()};
    position.x *= texel_bytes(array->format);
  };
  flatten(from, flat.source, flat.source_position);
  flatten(to, flat.target, flat.target_position);
  flat.source_array = flat.target_array = nullptr;
  if (from || to) flat.extent.width *= texel_bytes(to ? to->format : from->format);
  return flat;
}

namespace {

/// Copies `bytes` bytes row by row: `row` gets a place in the array, an offset in the other memory
/// and a number of bytes.
template <class Row>
Error for_each_row(const Array& array, std::size_t x, std::size_t y, std::size_t bytes,
                   const Row& row) {
  const std::size_t width = array.row_bytes();
  if (x >= width || bytes > (array.height() - std::min(y, array.height())) * width - x)
    return noted(invalid_value);
  for (std::size_t done = 0; done < bytes; ++y, x = 0) {
    const std::size_t part = std::min(bytes - done, width - x);
    const Error error = row(array.texels + y * array.pitch + x, done, part);
    if (error != success) return error;
    done += part;
  }
  return success;
}

char* place(const Array& array, std::size_t x, std::size_t y) {
  return array.texels + y * array.pitch + x;
}

}  // namespace

LOCKSTEP_EXPORT Error cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from,
                                          std::size_t pitch, std::size_t width, std::size_t height,
                                          int kind) {
  if (!to) return noted(invalid_value);
  return cudaMemcpy2D(place(*to, x, y), to->pitch, from, pitch, width, height, kind);
}
LOCKSTEP_EXPORT Error cudaMemcpy2DToArrayAsync(Array* to, std::size_t x, std::size_t y,
                                               const void* from, std::size_t pitch,
                                               std::size_t width, std::size_t height, int kind,
                                               StreamHandle stream) {
  if (!to) return noted(invalid_value);
  return cudaMemcpy2DAsync(place(*to, x, y), to->pitch, from, pitch, width, height, kind, stream);
}
LOCKSTEP_EXPORT Error cudaMemcpy2DFromArray(void* to, std::size_t pitch, const Array* from,
                                            std::size_t x, std::size_t y, std::size_t width,
                                            std::size_t height, int kind) {
  if (!from) return noted(invalid_value);
  return cudaMemcpy2D(to, pitch, place(*from, x, y), from->pitch, width, height, kind);
}
LOCKSTEP_EXPORT Error cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const Array* from,
                                                 std::size_t x, std::size_t y, std::size_t width,
                                                 std::size_t height, int kind,
                                                 StreamHandle stream) {
  if (!from) return noted(invalid_value);
  return cudaMemcpy2DAsync(to, pitch, place(*from, x, y), from->pitch, width, height, kind, stream);
}
LOCKSTEP_EXPORT Error cudaMemcpy2DArrayToArray(Array* to, std::size_t to_x, std::size_t to_y,
                                               const Array* from, std::size_t from_x,
                                               std::size_t from_y, std::size_t width,
                                               std::size_t height, int kind) {
  if (!to || !from) return noted(invalid_value);
  return cudaMemcpy2D(place(*to, to_x, to_y), to->pitch, place(*from, from_x, from_y), from->pitch,
                      width, height, kind);
}

LOCKSTEP_EXPORT Error cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y,
                                             const void* from, std::size_t bytes, int kind,
                                             StreamHandle stream) {
  if (!to) return noted(invalid_value);
  return for_each_row(*to, x, y, bytes, [&](char* row, std::size_t offset, std::size_t part) {
    return cudaMemcpy2DAsync(row, part, static_cast<const char*>(from) + offset, part, part, 1,
                             kind, stream);
  });
}
LOCKSTEP_EXPORT Error cudaMemcpyFromArrayAsync(void* to, const Array* from, std::size_t x,
                                               std::size_t y, std::size_t bytes, int kind,
                                               StreamHandle stream) {
  if (!from) return noted(invalid_value);
  return for_each_row(*from, x, y, bytes, [&](char* row, std::size_t offset, std::size_t part) {
    return cudaMemcpy2DAsync(static_cast<char*>(to) + offset, part, row, part, part, 1, kind,
                             stream);
  });
}
LOCKSTEP_EXPORT Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from,
                                        std::size_t bytes, int kind) {
  if (!to) return noted(invalid_value);
  const std::size_t width = to->row_bytes();
  if (x == 0 && bytes % width == 0 && bytes / width + y <= to->height())
    return cudaMemcpy2DToArray(to, 0, y, from, width, width, bytes / width, kind);
  return for_each_row(*to, x, y, bytes, [&](char* row, std::size_t offset, std::size_t part) {
    return cudaMemcpy2D(row, part, static_cast<const char*>(from) + offset, part, part, 1, kind);
  });
}
LOCKSTEP_EXPORT Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y,
                                          std::size_t bytes, int kind) {
  if (!from) return noted(invalid_value);
  const std::size_t width = from->row_bytes();
  if (x == 0 && bytes % width == 0 && bytes / width + y <= from->height())
    return cudaMemcpy2DFromArray(to, width, from, 0, y, width, bytes / width, kind);
  return for_each_row(*from, x, y, bytes, [&](char* row, std::size_t offset, std::size_t part) {
    return cudaMemcpy2D(static_cast<char*>(to) + offset, part, row, part, part, 1, kind);
  });
}
LOCKSTEP_EXPORT Error cudaMemcpyArrayToArray(Array* to, std::size_t to_x, std::size_t to_y,
                                             const Array* from, std::size_t from_x,
                                             std::size_t from_y, std::size_t bytes, int kind) {
  if (!to || !from || from->row_bytes() != to->row_bytes() || to_x != from_x)
    return noted(invalid_value);
  return for_each_row(*to, to_x, to_y, bytes, [&](char* row, std::size_t, std::size_t part) {
    const std::size_t at = static_cast<std::size_t>(row - to->texels);
    const char* source = place(*from, at % to->pitch, at / to->pitch - to_y + from_y);
    return cudaMemcpy2D(row, part, source, part, part, 1, kind);
  });
}

}  // namespace lockstep::capture
