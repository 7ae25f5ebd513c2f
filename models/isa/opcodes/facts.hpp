#pragma once

#include <cstdint>
#include <string_view>

#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Origin of operations with an opcode.
enum class Origin : std::uint8_t {
  ptx,       ///< made by the reader from the PTX instruction of that name
  reader,    ///< made by the reader from instructions with other names
  lowering,  ///< made by passes, the allocator or the encoder
};

/// Unit and latency class; execution_class gives their meaning for an operation's types.
enum class Pipe : std::uint8_t {
  none,
  by_type,           ///< unit of the type: integers, f32, f64 or halves
  integer,           ///< integer unit, whatever the type
  multiply,          ///< integers: the multiplier; other types: unit of the type
  special,           ///< special function unit
  special_function,  ///< special function unit, but not for f64
  comparison,        ///< unit of the type; the result is a predicate
  move,
  conversion,
  memory,
  shuffle,
  vote,
  control,
  tensor,  ///< class that the matrix form decides
};

/// Bits of OpcodeFacts::traits.
enum Trait : std::uint16_t {
  no_traits = 0,
  depends_on_lanes = 1 << 0,   ///< reads other lanes, the clock, or which lanes are there
  returns_old_value = 1 << 1,  ///< atomics: returns the old value of memory
  on_own_stack = 1 << 2,       ///< memory: address in the thread's frame, without an operand
  reads_carry = 1 << 3,        ///< the condition code is its last source
  has_two_types = 1 << 4,      ///< a second type may follow the first; otherwise both are one
  commutes = 1 << 5,           ///< the first two sources may be exchanged
  commutes_if_integer = 1 << 6,
  is_slow = 1 << 7,               ///< too slow to be executed where it might not be needed
  has_immediate_field = 1 << 8,   ///< an immediate does not take the place of the one constant
  takes_every_constant = 1 << 9,  ///< a machine instruction exists for each kind of source
};

/// A number by type: integers and bits of 16, up to 32 and 64 bits, floats up to 32 and of 64 bits.
struct ByType {
  std::uint8_t b16 = 1, b32 = 1, b64 = 1, f32 = 1, f64 = 1;
};

/// Facts about an opcode whatever its operands are.
struct OpcodeFacts {
  Opcode opcode = Opcode::nop;
  std::string_view name;  ///< name in PTX and in messages
  Pipe pipe = Pipe::none;
  /// Types of the operands, a letter each, the destination first ('-': none); the last stands for
  /// all that follow.  t: the operation's type; w: twice as wide for .wide; d: twice as wide;
  /// s: the second type; b: 32 bits; a: 64 bits, an address; p: predicate.  A capital letter: the
  /// machine's instruction takes a constant there.
  std::string_view operands = "-";
  /// Category; that of a call also depends on the callee.
  Category category = Category::arithmetic;
  Origin origin = Origin::ptx;
  std::uint16_t traits = no_traits;
  ByType slots{1, 1, 2, 1, 1};  ///< issue slots of each type
  /// Issue slots where modifiers or operands count; null: `slots`.
  unsigned (*slots_of)(const ir::Operation&) = nullptr;
  /// Function that returns the registers that ptxas's code needs besides operands and result;
  /// nullptr: none.
  unsigned (*scratch_of)(const ir::Operation&) = nullptr;
  std::uint8_t wait = 5;  ///< cycles until the result, as the list scheduler assumes
};

}  // namespace lockstep::isa
