/// Issue slots per operation: the number of instructions into which ptxas expands it.
///
/// Source: kernels of one operation each, compiled with ptxas 11.8 for sm_70 and disassembled; for
/// operations with a slow path (division, square root, reciprocal) the instructions of the path
/// that normal numbers take (docs/validation/lowering.md).
///
/// Simplified: the cost of an operation does not depend on its operands, even for a division by a
/// constant.
#include "models/isa/opcodes/issue_slots.hpp"

#include "models/isa/matrix/fragment.hpp"
#include "models/isa/matrix/plan.hpp"
#include "models/isa/opcodes/table.hpp"
#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

namespace {

unsigned by_type(const ByType& numbers, Type type) {
  if (is_float(type)) return type == Type::f64 ? numbers.f64 : numbers.f32;
  switch (bytes_of(type)) {
    case 8:
      return numbers.b64;
    case 2:
      return numbers.b16;
    default:
      return numbers.b32;
  }
}

bool is_wide(const ir::Operation& o) {
  return bytes_of(o.type) == 8 && !is_float(o.type);
}

bool is_immediate(const ir::Operation& o, std::size_t source) {
  return o.sources[source].kind == ir::Operand::Kind::immediate;
}

// Returns whether an immediate's upper half is zero.
bool has_short_immediate(const ir::Operation& o) {
  for (const ir::Operand& source : o.sources)
    if (source.kind == ir::Operand::Kind::immediate && source.value >= 0 &&
        source.value <= 0xffffffff)
      return true;
  return false;
}

}  // namespace

unsigned issue_slots(const ir::Operation& operation) {
  const OpcodeFacts& facts = facts_of(operation.opcode);
  return facts.slots_of != nullptr ? facts.slots_of(operation)
                                   : by_type(facts.slots, operation.type);
}

namespace slots {

unsigned multiply(const ir::Operation& o) {
  if (is_float(o.type)) return 1;
  const bool high = o.part == ir::MulPart::hi;
  if (is_wide(o)) return high ? (is_signed(o.type) ? 17 : 7) : has_short_immediate(o) ? 3 : 4;
  return o.part != ir::MulPart::wide && bytes_of(o.type) == 2 ? 3 : 1;
}

unsigned multiply_add(const ir::Operation& o) {
  if (is_float(o.type)) return 1;
  const bool high = o.part == ir::MulPart::hi;
  if (is_wide(o)) return high ? (is_signed(o.type) ? 19 : 9) : has_short_immediate(o) ? 3 : 4;
  return high ? 2 : 1;
}

unsigned divide(const ir::Operation& o) {
  const bool remainder = o.opcode == Opcode::rem;
  switch (o.type) {
    case Type::f32:
      return o.full ? 8 : o.approximate ? (o.flush ? 2 : 5) : 10;
    case Type::f64:
      return 15;
    case Type::s64:
      return remainder ? 82 : 88;
    case Type::u64:
      return remainder ? 68 : 72;
    case Type::s16:
      return 24;
    case Type::u16:
      return 18;
    case Type::u32:
      return remainder ? 17 : 19;
    default:
      return remainder ? 26 : 28;
  }
}

unsigned conjunction(const ir::Operation& o) {
  return is_wide(o) && !has_short_immediate(o) ? 2 : 1;
}

unsigned shift(const ir::Operation& o) {
  if (is_wide(o)) return 2;
  return bytes_of(o.type) == 2 && !is_immediate(o, 1) ? 4 : 1;
}

unsigned extract_bits(const ir::Operation& o) {
  return is_wide(o) ? 9 : is_immediate(o, 1) ? 2 : 5;
}

// Returns whether the operation inserts one word of 64 bits in place of another: two moves.
bool inserts_word(const ir::Operation& o) {
  return is_wide(o) && is_immediate(o, 2) && is_immediate(o, 3) && o.sources[2].value == 32 &&
         o.sources[3].value == 32;
}

unsigned insert_bits(const ir::Operation& o) {
  if (inserts_word(o)) return 2;
  return is_wide(o) ? 13 : is_immediate(o, 2) ? 2 : 6;
}

unsigned reciprocal(const ir::Operation& o) {
  if (o.type == Type::f64) return o.approximate ? 2 : 12;
  return !o.approximate ? 9 : o.flush ? 1 : 8;
}

unsigned square_root(const ir::Operation& o) {
  if (o.type == Type::f64) return 17;
  return !o.approximate ? 11 : o.flush ? 1 : 4;
}

unsigned reciprocal_root(const ir::Operation& o) {
  return o.type == Type::f64 ? 14 : o.flush ? 1 : 4;
}

unsigned logarithm(const ir::Operation& o) {
  return o.flush || o.type != Type::f32 ? 1 : 4;
}

// A special register is read in one piece.
unsigned move(const ir::Operation& o) {
  return bytes_of(o.type) == 8 && o.sources[0].kind != ir::Operand::Kind::special ? 2 : 1;
}

unsigned convert(const ir::Operation& o) {
  if (!o.saturate || is_float(o.type) || is_float(o.source_type)) return 1;
  return bytes_of(o.source_type) == 8 ? 8 : 4;
}

unsigned fence(const ir::Operation& o) {
  return o.scope == Scope::cta ? 1 : 3;
}

// Video instructions: since Maxwell only few of them are single instructions.
// Source: ptxas 13.0 for sm_75, 32 of each in a chain.
unsigned video(const ir::Operation& o) {
  struct Slots {
    VideoOperation operation;
    unsigned scalar, halves, bytes;
  };
  static constexpr Slots table[] = {
      {VideoOperation::add, 1, 3, 3},     {VideoOperation::sub, 1, 3, 3},
      {VideoOperation::absdiff, 5, 9, 1}, {VideoOperation::min, 4, 4, 31},
      {VideoOperation::max, 4, 4, 31},    {VideoOperation::average, 1, 15, 30},
      {VideoOperation::set, 7, 13, 26},   {VideoOperation::shl, 4, 1, 1},
      {VideoOperation::shr, 4, 1, 1}};
  const bool saturates = (o.immediate & video_bits::saturate) != 0;
  if (o.opcode == Opcode::video && o.mode == video_multiply_add) return saturates ? 8 : 3;
  if (o.opcode == Opcode::video2 && o.sources.size() == 2) return 1;  // add.u16x2 of sm_90
  if (saturates) return o.opcode == Opcode::video ? 8 : o.opcode == Opcode::video2 ? 22 : 42;
  const auto operation =
      static_cast<VideoOperation>(o.immediate >> video_bits::operation_shift & 0xf);
  for (const Slots& slots : table)
    if (slots.operation == operation)
      return o.opcode == Opcode::video    ? slots.scalar
             : o.opcode == Opcode::video2 ? slots.halves
                                          : slots.bytes;
  return 1;
}

/// Returns the steps of a matrix operation.  wmma of two blocks is two steps, of tf32 two for each
/// block (ptxas for sm_80); on Volta it is one machine instruction.  Since Ampere ptxas makes
/// m8n8k4 of f16 from other instructions.
unsigned matrix(const ir::Operation& o) {
  const MatrixForm form = unpack_form(o.immediate);
  if (is_quad_pairs(form)) return plan_of(form).kind == MatrixPlan::Kind::scalar ? 128 : 1;
  if (!form.wmma || form.arithmetic == MatrixArithmetic::volta) return 1;
  return steps_of(form).count * (form.a == MatrixElement::tf32 ? 2 : 1);
}

}  // namespace slots

}  // namespace lockstep::isa
