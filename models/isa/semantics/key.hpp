/// Key by which the families of semantics choose a function, and the encoding of modifiers in
/// Instruction::detail.  Plain data: the families are compiled once per x86-64 level and must not
/// share inline functions of the standard library with the rest of the program.
#pragma once

#include <cstdint>

#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/semantics/modes.hpp"
#include "models/isa/types.hpp"

namespace lockstep::isa {

/// An ir::Operation without its operands' names.
struct SemanticKey {
  Opcode opcode = Opcode::nop;
  Type type = Type::none, source_type = Type::none;
  Type destination_register = Type::none;  ///< declared types where given, see cvt
  Type source_register = Type::none;
  std::uint8_t sources = 0, predicate_sources = 0;  ///< numbers of rows and predicates read
  std::uint8_t destinations = 0, predicate_destinations = 0;
  bool special_source = false;
  Space space = Space::none;
  Rounding rounding = Rounding::none;
  Comparison comparison = Comparison::none;
  Combination combination = Combination::none;
  ir::MulPart part = ir::MulPart::none;
  AtomicOperation atomic = AtomicOperation::none;
  bool flush = false, saturate = false, relu = false, nan = false;
  bool approximate = false, full = false, carry_out = false, wrap = false, shift_amount = false;
  std::uint16_t mode = 0;
};

/// Bits of Instruction::detail for arithmetic and shuffle_vote.
namespace detail_bits {
inline constexpr unsigned rounding_mask = 0xf;  ///< Rounding
inline constexpr unsigned flush = 1U << 4;
inline constexpr unsigned saturate = 1U << 5;
inline constexpr unsigned relu = 1U << 6;
inline constexpr unsigned nan = 1U << 7;
inline constexpr unsigned wrap = 1U << 8;  ///< modifier .wrap of shf, .shiftamt of bfind
inline constexpr unsigned combination_shift = 9;
inline constexpr unsigned combination_mask = 3;
inline constexpr unsigned mode_shift = 11;  ///< Operation::mode, five bits
}  // namespace detail_bits

}  // namespace lockstep::isa
