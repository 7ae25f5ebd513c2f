/// Issue slots per operation: what ptxas expands an operation into.
///
/// Source: kernels of one operation each, compiled with ptxas 11.8 for sm_70 and disassembled; for
/// operations with a slow path (division, square root, reciprocal) the instructions of the path
/// that normal numbers take (docs/validation.md).
///
/// Simplified: an operation costs the same whatever its operands are; a division by a constant is
/// not known to be cheaper.
#include "models/isa/opcodes/issue_slots.hpp"

#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

namespace {

bool has_type(const ir::Operation& o, Type type) {
  return o.type == type;
}

unsigned divide(const ir::Operation& o, bool remainder) {
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

unsigned special_function(const ir::Operation& o) {
  const bool is_double = has_type(o, Type::f64);
  switch (o.opcode) {
    case Opcode::rcp:
      return is_double ? (o.approximate ? 2 : 12) : !o.approximate ? 9 : o.flush ? 1 : 8;
    case Opcode::sqrt:
      return is_double ? 17 : !o.approximate ? 11 : o.flush ? 1 : 4;
    case Opcode::rsqrt:
      return is_double ? 14 : o.flush ? 1 : 4;
    case Opcode::sin:
    case Opcode::cos:
      return 2;
    case Opcode::lg2:
    case Opcode::ex2:
      return o.flush || !has_type(o, Type::f32) ? 1 : 4;
    default:
      return 1;
  }
}

// An immediate whose upper half is zero.
bool has_short_immediate(const ir::Operation& o) {
  for (const ir::Operand& source : o.sources)
    if (source.kind == ir::Operand::Kind::immediate && source.value >= 0 &&
        source.value <= 0xffffffff)
      return true;
  return false;
}

// Integer operations on 64 bits.
unsigned wide(const ir::Operation& o) {
  switch (o.opcode) {
    case Opcode::mul:
      if (o.part == ir::MulPart::hi) return is_signed(o.type) ? 17 : 7;
      return has_short_immediate(o) ? 3 : 4;
    case Opcode::mad:
    case Opcode::madc:
      if (o.part == ir::MulPart::hi) return is_signed(o.type) ? 19 : 9;
      return has_short_immediate(o) ? 3 : 4;
    case Opcode::and_:
      return has_short_immediate(o) ? 1 : 2;
    case Opcode::abs:
      return 5;
    case Opcode::min:
    case Opcode::max:
      return 4;
    case Opcode::sad:
      return 10;
    case Opcode::popc:
      return 3;
    case Opcode::clz:
      return 6;
    case Opcode::bfind:
      return 8;
    case Opcode::bfe:
      return 9;
    case Opcode::bfi:
      return 13;
    case Opcode::slct:
      return 3;
    case Opcode::set:
      return 3;
    case Opcode::mov_pack:
    case Opcode::mov_unpack:
      return 1;
    default:
      return 2;
  }
}

unsigned narrow(const ir::Operation& o) {
  const bool sixteen = bytes_of(o.type) == 2;
  switch (o.opcode) {
    case Opcode::mul:
      return o.part == ir::MulPart::wide ? 1 : sixteen ? 3 : 1;
    case Opcode::mad:
    case Opcode::madc:
      return o.part == ir::MulPart::hi ? 2 : 1;
    case Opcode::mul24:
    case Opcode::mad24:
      return 3;
    case Opcode::min:
    case Opcode::max:
      return sixteen ? 4 : 2;
    case Opcode::shl:
    case Opcode::shr:
      return sixteen && o.sources[1].kind != ir::Operand::Kind::immediate ? 4 : 1;
    case Opcode::cnot:
      return 3;
    case Opcode::clz:
    case Opcode::set:
    case Opcode::slct:
      return 2;
    case Opcode::bfe:
      return o.sources[1].kind == ir::Operand::Kind::immediate ? 2 : 5;
    case Opcode::bfi:
      return o.sources[2].kind == ir::Operand::Kind::immediate ? 2 : 6;
    case Opcode::fns:
      return 51;
    default:
      return 1;
  }
}

unsigned convert(const ir::Operation& o) {
  if (!o.saturate || is_float(o.type) || is_float(o.source_type)) return 1;
  return bytes_of(o.source_type) == 8 ? 8 : 4;
}

unsigned floating(const ir::Operation& o) {
  switch (o.opcode) {
    case Opcode::min:
    case Opcode::max:
      return has_type(o, Type::f64) ? 9 : 1;
    case Opcode::set:
    case Opcode::slct:
    case Opcode::copysign:
      return 2;
    case Opcode::testp:
      return 3;
    case Opcode::selp:
    case Opcode::mov:
      return bytes_of(o.type) == 8 ? 2 : 1;
    default:
      return 1;
  }
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

}  // namespace

unsigned issue_slots(const ir::Operation& o) {
  switch (o.opcode) {
    case Opcode::div:
    case Opcode::rem:
      return divide(o, o.opcode == Opcode::rem);
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
      return special_function(o);
    case Opcode::video:
    case Opcode::video2:
    case Opcode::video4:
      return video(o);
    case Opcode::cvt:
    case Opcode::cvt_pack:
      return convert(o);
    case Opcode::mad_wide_add:
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::prefetch:
    case Opcode::spill:
    case Opcode::fill:
    case Opcode::bra:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::print:
    case Opcode::stack_save:
    case Opcode::stack_restore:
      return 1;
    case Opcode::fence:
      return o.scope == Scope::cta ? 1 : 3;
    default:
      break;
  }
  if (is_float(o.type)) return floating(o);
  // A special register is read in one piece; what is asked of a predicate does not count bytes.
  if (o.opcode == Opcode::mov && o.sources[0].kind == ir::Operand::Kind::special) return 1;
  return bytes_of(o.type) == 8 ? wide(o) : narrow(o);
}

}  // namespace lockstep::isa
