#include "models/isa/lowering/analysis/alignment.hpp"

#include <algorithm>
#include <bit>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

constexpr unsigned all = 32;

unsigned zero_bits_of(std::int64_t value) {
  return value == 0
             ? all
             : std::min(all,
                        static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(value))));
}

}  // namespace

unsigned zero_bits(const Producers& producers, const ir::Operand& operand, Place use,
                   unsigned depth) {
  if (operand.kind == Kind::none) return all;
  if (operand.kind == Kind::immediate) return zero_bits_of(operand.value);
  if (operand.kind != Kind::reg || depth == 0) return 0;
  const ir::Operation* operation = producers.find(operand, use);
  if (operation == nullptr) return 0;
  const Place at = producers.definitions()[operand.index].definition;
  const auto bits = [&](std::size_t s) {
    return zero_bits(producers, operation->sources[s], at, depth - 1);
  };
  const auto shift = [&](std::int64_t amount) {
    return static_cast<unsigned>(std::clamp<std::int64_t>(amount, 0, all));
  };
  switch (operation->opcode) {
    case Opcode::mov:
      return bits(0);
    case Opcode::add:
    case Opcode::sub:
    case Opcode::or_:
    case Opcode::xor_:
      return std::min(bits(0), bits(1));
    case Opcode::iadd3:
      return std::min({bits(0), bits(1), bits(2)});
    case Opcode::and_:
      return std::max(bits(0), bits(1));
    case Opcode::mul:
      return operation->part == MulPart::hi ? 0 : std::min(all, bits(0) + bits(1));
    case Opcode::mad:
    case Opcode::mad_wide_add:
      return operation->part == MulPart::hi ? 0
                                            : std::min(std::min(all, bits(0) + bits(1)), bits(2));
    case Opcode::shl:
      return operation->sources[1].kind == Kind::immediate
                 ? std::min(all, bits(0) + shift(operation->sources[1].value))
                 : bits(0);
    case Opcode::lea:
      return std::min(std::min(all, bits(0) + shift(operation->immediate)), bits(1));
    default:
      return 0;
  }
}

}  // namespace lockstep::isa::lowering
