/// Operands of wgmma in shared memory: the descriptor, and the places of elements that it
/// describes.
///
/// An operand consists of rows of A or columns of B, here both called rows, each with 32 bytes
/// along k.  Its unit is a piece of 16 bytes.  By rows (K-major), a piece is half a row.  By
/// columns (MN-major, of 16-bit elements), a piece is one k of eight rows.
/// Source: PTX ISA 9.0, "Matrix Descriptor Format"; modern-isa.md, section 3.4.
#pragma once

#include <cstdint>
#include <optional>

#include "models/isa/instruction_mistake.hpp"
#include "models/isa/matrix/swizzle.hpp"
#include "models/isa/matrix/warpgroup_form.hpp"

namespace lockstep::isa {

inline constexpr unsigned piece_bytes = 16, rows_of_piece = 8;

struct SharedOperand {
  std::uint32_t start = 0;    ///< bytes from the start of the shared window
  std::uint32_t leading = 0;  ///< leading dimension byte offset
  std::uint32_t stride = 0;   ///< stride dimension byte offset
  Swizzle swizzle = Swizzle::none;
  std::uint8_t base_offset = 0;  ///< base offset of the pattern, in units of 128 bytes

  /// Returns the address of half `half` (0, 1) of a row.
  [[gnu::always_inline]] std::uint32_t piece_of_row(unsigned row, unsigned half) const {
    const std::uint32_t high = start + row / rows_of_piece * stride;
    if (swizzle == Swizzle::none) return high + row % rows_of_piece * piece_bytes + half * leading;
    return swizzled(high + row % rows_of_piece * span_of(swizzle) + half * piece_bytes, swizzle);
  }
  /// Returns the address of element k of rows `row` to `row` + 7; `row` is a multiple of eight.
  [[gnu::always_inline]] std::uint32_t piece_of_column(unsigned row, unsigned k) const {
    if (swizzle == Swizzle::none)
      return start + row / 8 * stride + k % 8 * piece_bytes + k / 8 * leading;
    const unsigned rows_of_span = span_of(swizzle) / 2;
    return swizzled(start + row % rows_of_span * 2 + row / rows_of_span * leading +
                        k % 8 * span_of(swizzle) + k / 8 * stride,
                    swizzle);
  }
};

SharedOperand shared_operand_of(std::uint64_t descriptor);
/// Returns the descriptor of an operand: the inverse of shared_operand_of, for offsets that are
/// multiples of 16.
std::uint64_t descriptor_of(const SharedOperand& operand);

/// Returns the mistake in a product's operands in shared memory, if there is one. `a`: nothing
/// where A is in registers. `shared_bytes`: shared memory of the block.
InstructionMistake shared_operand_mistake(const WarpgroupForm& form, std::optional<std::uint64_t> a,
                                          std::uint64_t b, std::uint64_t shared_bytes);

}  // namespace lockstep::isa
