/// Copies and fills: each becomes copies of contiguous rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jobs/capture/runtime/cuda_abi.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {

/// Where a copy stands in the order of the program.
struct Order {
  std::uint64_t stream = stream_number(nullptr);
  bool waits = true;
};
/// Returns the order of a copy in a stream, where the host goes on.
Order in(StreamHandle stream);

struct Rows {
  char* to;
  const char* from;
  std::size_t to_pitch, from_pitch, width, height;
};

/// A value of 1, 2 or 4 bytes that memory is filled with.
struct Pattern {
  std::uint32_t value = 0;
  unsigned bytes = 1;
};

/// Returns whether the program has pages there.
bool is_mapped(const void* pointer, std::size_t bytes);
Error copy_row(void* to, const void* from, std::size_t bytes, int kind, const Order& order);
Error copy_rows(const Rows& rows, int kind, const Order& order);
Error copy_volume(const Copy3D& copy, const Order& order);
/// `failed`: place for the number of the copy that could not be made; may be null.
Error copy_batch(void* const* to, const void* const* from, const std::size_t* bytes,
                 std::size_t count, std::size_t* failed, StreamHandle stream);
/// Copies between a variable of the GPU and the host.
Error copy_symbol(const void* symbol, void* host, std::size_t bytes, std::size_t offset,
                  bool to_symbol, int kind, const Order& order);
Error fill_row(void* to, const Pattern& pattern, std::size_t bytes, std::uint64_t stream);
/// `width`: bytes of a row.
Error fill_rows(void* to, std::size_t pitch, const Pattern& pattern, std::size_t width,
                std::size_t height, std::uint64_t stream);

}  // namespace lockstep::capture
