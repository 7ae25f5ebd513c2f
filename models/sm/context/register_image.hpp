/// Memory image of the registers of a thread block.
///
/// The kinds are: the rows that each warp needs, or more, one after the other; these rows
/// compressed, behind a pattern vector of the warp with two bits a register; or compressed over the
/// block, behind one vector with four bits a register.  A 64-bit value, stored lane by lane in two
/// rows, counts as two registers: low and high halves.  Predicates are saved whole.
/// Source: 002, sections III.B, III.C and IV.B, Figure 12; preemption.md, section 5.
///
/// Simplified: a pattern vector has room for 64 registers or a multiple.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/sm/context/block_patterns.hpp"
#include "models/sm/context/register_compressor.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// Registers of a warp that has not left, in the block's order.
struct WarpRegisters {
  std::uint32_t* rows = nullptr;  ///< register rows, with the predicates behind them
  RowMask needed{};
  unsigned threads = isa::warp_size;

  bool needs(unsigned row) const { return (needed[row / 64] >> row % 64 & 1) != 0; }
};

/// Number and kinds of registers of a kernel's warps.
struct RegisterShape {
  unsigned rows = 0;
  unsigned pair_rows = 0;  ///< rows below this number hold 64-bit values, two each
  unsigned predicates = 0;
  std::uint32_t block_width = isa::warp_size;  ///< width of the block in threads

  /// Returns the largest size of an image, pattern vectors included.
  std::size_t image_bytes(unsigned warps) const;
};

class RegisterImage {
 public:
  explicit RegisterImage(const RegisterShape& shape)
      : shape_(shape), compressor_(shape.block_width) {}

  /// Numbers of registers in each class, of warps and of blocks.
  struct Classes {
    std::array<std::uint32_t, 4> of_warps{};
    std::array<std::uint32_t, block_register_classes> of_blocks{};
  };

  // Appends the registers to `image`; reading begins at `from` and returns where the registers end.
  void write(std::span<const WarpRegisters> warps, std::vector<std::byte>& image) const;
  const std::byte* read(const std::byte* image, std::span<const WarpRegisters> warps) const;
  /// Rows that warps need are found in the image.
  Classes write_compressed(std::span<const WarpRegisters> warps,
                           std::vector<std::byte>& image) const;
  const std::byte* read_compressed(const std::byte* image,
                                   std::span<const WarpRegisters> warps) const;
  Classes write_block(std::span<const WarpRegisters> warps, std::vector<std::byte>& image) const;
  const std::byte* read_block(const std::byte* image, std::span<const WarpRegisters> warps) const;

 private:
  LaneValues load(const WarpRegisters& warp, unsigned row) const;
  void store(const WarpRegisters& warp, unsigned row, const LaneValues& values) const;
  void write_predicates(const WarpRegisters& warp, std::vector<std::byte>& image) const;
  const std::byte* read_predicates(const std::byte* image, const WarpRegisters& warp) const;
  void write_register(const RegisterPattern& pattern, const LaneValues& values,
                      std::vector<std::byte>& image) const;
  /// Writes a register of all warps. Returns its class.
  BlockRegisterClass write_of_block(unsigned row, std::span<const WarpRegisters> warps,
                                    std::vector<std::byte>& image, Classes& classes) const;
  const std::byte* read_register(const std::byte* image, RegisterClass kind,
                                 const WarpRegisters& warp, unsigned row) const;
  unsigned groups_of(const WarpRegisters& warp) const;

  const RegisterShape shape_;
  const RegisterCompressor compressor_;
};

}  // namespace lockstep
