#include "models/isa/matrix/shared_operand.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::isa {
namespace {

constexpr std::uint64_t field = 0x3fff;  ///< mask of a 14-bit field in units of 16 bytes

/// Modes of the descriptor in the order of enum Swizzle.
constexpr unsigned modes[] = {0, 3, 2, 1};

/// Returns the end of the furthest piece of the first `rows` rows.
std::uint32_t end_of(const SharedOperand& operand, unsigned rows, bool by_columns) {
  std::uint32_t last = 0;
  if (by_columns) {
    for (unsigned row = 0; row < rows; row += rows_of_piece)
      for (unsigned k = 0; k < bytes_along_k / 2; ++k)
        last = std::max(last, operand.piece_of_column(row, k));
  } else {
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned half = 0; half < 2; ++half)
        last = std::max(last, operand.piece_of_row(row, half));
  }
  return last + piece_bytes;
}

InstructionMistake mistake_of(const char* name, std::uint64_t descriptor, unsigned rows,
                              bool by_columns, std::uint64_t shared_bytes) {
  const SharedOperand operand = shared_operand_of(descriptor);
  if (operand.base_offset != 0)
    return {
        fmt::format("the descriptor {:#x} of {} has a base offset, which is not modelled",
                    descriptor, name),
        "align the operand's pattern: 1024 bytes for a swizzle of 128 bytes, 512 for 64, 256 for "
        "32"};
  const std::uint32_t end = end_of(operand, rows, by_columns);
  if (end <= shared_bytes) return {};
  return {fmt::format("{} of wgmma ends at byte {} of shared memory, of which the block has {} "
                      "(descriptor {:#x})",
                      name, end, shared_bytes, descriptor),
          "check start, leading and stride offset of the descriptor"};
}

}  // namespace

SharedOperand shared_operand_of(std::uint64_t descriptor) {
  const auto bytes = [&](unsigned place) {
    return static_cast<std::uint32_t>((descriptor >> place & field) * piece_bytes);
  };
  SharedOperand operand;
  operand.start = bytes(0);
  operand.leading = bytes(16);
  operand.stride = bytes(32);
  operand.base_offset = static_cast<std::uint8_t>(descriptor >> 49 & 7);
  const auto mode = static_cast<unsigned>(descriptor >> 62);
  operand.swizzle = static_cast<Swizzle>(std::ranges::find(modes, mode) - std::begin(modes));
  return operand;
}

std::uint64_t descriptor_of(const SharedOperand& operand) {
  const auto units = [](std::uint32_t bytes, unsigned place) {
    return (bytes / piece_bytes & field) << place;
  };
  return units(operand.start, 0) | units(operand.leading, 16) | units(operand.stride, 32) |
         std::uint64_t{operand.base_offset} << 49 |
         std::uint64_t{modes[static_cast<unsigned>(operand.swizzle)]} << 62;
}

InstructionMistake shared_operand_mistake(const WarpgroupForm& form, std::optional<std::uint64_t> a,
                                          std::uint64_t b, std::uint64_t shared_bytes) {
  constexpr unsigned rows_of_a = 64;
  if (a)
    if (auto mistake = mistake_of("A", *a, rows_of_a, form.a_by_columns, shared_bytes))
      return mistake;
  return mistake_of("B", b, form.n, form.b_by_rows, shared_bytes);
}

}  // namespace lockstep::isa
