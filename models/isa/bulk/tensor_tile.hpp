/// Tile of a tensor that one copy moves between global and shared memory: source and destination of
/// each byte, for the SM's engine and the interpreter.
///
/// In shared memory the box is dense, row after row (dimension 0), and the swizzle permutes its
/// 16-byte pieces, by bits of the address in shared memory.  A byte's position is its place in the
/// dense box.  Elements outside of the tensor are filled when loaded and left out when stored.
/// Source: PTX ISA 8.x, "Tensors", sections "Tiled mode", "Out of bounds access", "Swizzling
/// modes"; modern-isa.md, section 3.3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/isa/bulk/tensor_map.hpp"

namespace lockstep::isa {

/// Contiguous bytes of a row of the box, all inside the tensor or all outside.
struct TileRun {
  std::uint64_t global = 0;    ///< address in global memory, if inside
  std::uint32_t position = 0;  ///< position of the first byte
  std::uint32_t bytes = 0;
  bool inside = false;
};

class TensorTile {
 public:
  static constexpr unsigned piece = 16;

  TensorTile() = default;
  /// Precondition: mistake_in_bytes has nothing to say of the map.
  TensorTile(const TensorMap& map, const std::array<std::int32_t, TensorMap::most_rank>& first,
             std::uint32_t shared);

  /// Returns the bytes of the box, including those outside of the tensor.
  std::uint32_t bytes() const { return bytes_; }
  /// Returns the run that begins at the position; it stays within its row, and within `unit` bytes
  /// of global memory, a power of two.
  TileRun run_from(std::uint32_t position, std::uint64_t unit) const;
  /// Returns where the byte stands in shared memory.
  std::uint32_t place_of(std::uint32_t position) const {
    return swizzled(shared_ + position, map_.swizzle);
  }
  /// Returns how many bytes from the position on stand side by side in shared memory.
  static std::uint32_t together(std::uint32_t position) { return piece - position % piece; }
  /// Calls function(offset in the run, place in shared memory, bytes) for each part of the run that
  /// is contiguous in shared memory.
  template <class Function>
  void for_each_piece(const TileRun& run, Function&& function) const {
    for (std::uint32_t at = 0; at < run.bytes;) {
      const std::uint32_t position = run.position + at;
      const std::uint32_t bytes = std::min(together(position), run.bytes - at);
      function(at, place_of(position), bytes);
      at += bytes;
    }
  }
  /// Fills elements outside of the tensor. `shared` is the block's memory.
  void fill(const TileRun& run, std::byte* shared) const;
  /// Global addresses that the tile moves; empty if it lies outside of the tensor.
  struct Extent {
    std::uint64_t first = 0, bytes = 0;
  };
  Extent extent() const;

  const TensorMap& map() const { return map_; }

 private:
  TensorMap map_;
  std::array<std::int64_t, TensorMap::most_rank> first_{};
  std::array<std::uint32_t, TensorMap::most_rank> count_{1, 1, 1, 1, 1};
  std::uint32_t shared_ = 0, bytes_ = 0, row_bytes_ = 16, element_ = 1;
  std::uint32_t inside_first_ = 0, inside_end_ = 0;  ///< bytes of a row inside of dimension 0
};

}  // namespace lockstep::isa
