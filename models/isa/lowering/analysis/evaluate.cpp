#include "models/isa/lowering/analysis/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

std::int64_t as_type(std::int64_t value, Type type) {
  const unsigned bits = bytes_of(type) * 8;
  if (bits == 0 || bits == 64) return value;
  const auto raw = static_cast<std::uint64_t>(value) << (64 - bits);
  return is_signed(type) ? static_cast<std::int64_t>(raw) >> (64 - bits)
                         : static_cast<std::int64_t>(raw >> (64 - bits));
}

namespace {

std::uint64_t bits_of(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

std::int64_t shift(const ir::Operation& operation, std::int64_t a, std::uint64_t amount) {
  const unsigned bits = bytes_of(operation.type) * 8;
  if (operation.opcode == Opcode::shl)
    return amount >= bits ? 0 : static_cast<std::int64_t>(bits_of(a) << amount);
  if (is_signed(operation.type)) return a >> std::min<std::uint64_t>(amount, 63);
  return amount >= bits ? 0 : static_cast<std::int64_t>(bits_of(a) >> amount);
}

std::optional<std::int64_t> product(const ir::Operation& operation, std::int64_t a,
                                    std::int64_t b) {
  if (operation.part != MulPart::lo && operation.part != MulPart::wide) return std::nullopt;
  if (operation.part == MulPart::wide && bytes_of(operation.type) > 4) return std::nullopt;
  return static_cast<std::int64_t>(bits_of(a) * bits_of(b));
}

bool evaluable(const ir::Operation& operation) {
  if (is_float(operation.type) || is_float(operation.source_type)) return false;
  if (operation.type == Type::none || operation.type == Type::pred) return false;
  if (operation.carry_out || operation.saturate || operation.sources.empty()) return false;
  return std::all_of(operation.sources.begin(), operation.sources.end(),
                     [](const ir::Operand& s) { return s.kind == Kind::immediate; });
}

/// Returns the value of a conversion of an f32 constant that is a whole number, so that rounding
/// does not matter.
std::optional<std::int64_t> whole_number(const ir::Operation& operation) {
  if (operation.opcode != Opcode::cvt || operation.source_type != Type::f32 ||
      is_float(operation.type) || bytes_of(operation.type) != 4 || operation.saturate ||
      operation.sources[0].kind != Kind::immediate)
    return std::nullopt;
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(operation.sources[0].value));
  constexpr float end = 0x1p31f;
  if (!(value >= 0 && value < end) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::optional<std::int64_t> evaluate(const ir::Operation& operation) {
  if (const auto value = whole_number(operation)) return value;
  if (!evaluable(operation)) return std::nullopt;
  const auto source = [&](std::size_t s) {
    return as_type(operation.sources[s].value, constant_type(operation, s));
  };
  const std::int64_t a = source(0);
  const std::int64_t b = operation.sources.size() > 1 ? source(1) : 0;
  switch (operation.opcode) {
    case Opcode::mov:
      return a;
    case Opcode::cvt:
      return as_type(a, operation.type);
    case Opcode::add:
      return static_cast<std::int64_t>(bits_of(a) + bits_of(b));
    case Opcode::sub:
      return static_cast<std::int64_t>(bits_of(a) - bits_of(b));
    case Opcode::mul:
      return product(operation, a, b);
    case Opcode::and_:
      return a & b;
    case Opcode::or_:
      return a | b;
    case Opcode::xor_:
      return a ^ b;
    case Opcode::not_:
      return ~a;
    case Opcode::neg:
      return static_cast<std::int64_t>(-bits_of(a));
    case Opcode::min:
      return is_signed(operation.type) ? std::min(a, b) : bits_of(a) < bits_of(b) ? a : b;
    case Opcode::max:
      return is_signed(operation.type) ? std::max(a, b) : bits_of(a) > bits_of(b) ? a : b;
    case Opcode::shl:
    case Opcode::shr:
      return shift(operation, a, bits_of(b));
    default:
      return std::nullopt;
  }
}

}  // namespace lockstep::isa::lowering
