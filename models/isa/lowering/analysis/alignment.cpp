#include "models/isa/lowering/analysis/alignment.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

constexpr unsigned all_bits = 32;

unsigned zero_bits_of(std::int64_t value) {
  return value == 0
             ? all_bits
             : std::min(all_bits,
                        static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(value))));
}

/// Returns the places where a register may have got the value it has at `use`; nothing, when the
/// value may come from outside of the function.
std::optional<std::vector<Place>> reaching(const Producers& producers, std::uint32_t index,
                                           Place use) {
  const ir::Function& function = producers.function();
  std::vector<Place> found;
  std::vector<bool> seen(function.blocks.size());
  // Places up to which blocks are still to be searched, from their beginning.
  std::vector<Place> work{use};
  while (!work.empty()) {
    const Place at = work.back();
    work.pop_back();
    const auto& operations = function.blocks[at.block].operations;
    bool written = false;
    for (auto o = producers.last_write(index, at); o && !written;
         o = producers.last_write(index, {at.block, *o})) {
      found.push_back({at.block, *o});
      written = !is_guarded(operations[*o]);
    }
    if (written) continue;
    if (at.block == 0) return {};
    for (const std::uint32_t before : producers.flow()->predecessors[at.block]) {
      if (seen[before]) continue;
      seen[before] = true;
      work.push_back(
          {before, static_cast<std::uint32_t>(function.blocks[before].operations.size())});
    }
  }
  return found;
}

unsigned bits_of_result(const Producers& producers, const ir::Operation& operation, Place at,
                        unsigned depth);

/// Returns the low zero bits of a register with several definitions.  A definition that adds to the
/// register itself keeps as many as the others and the added value have in common.
unsigned bits_of_induction(const Producers& producers, std::uint32_t index, Place use,
                           unsigned depth) {
  const auto places = reaching(producers, index, use);
  if (!places || places->empty()) return 0;
  unsigned bits = all_bits;
  for (const Place at : *places) {
    const ir::Operation& operation = producers.function().blocks[at.block].operations[at.operation];
    if (operation.destinations.size() != 1 || operation.carry_out) return 0;
    const bool steps = operation.opcode == Opcode::add && operation.sources[0].kind == Kind::reg &&
                       operation.sources[0].index == index;
    // The register's value before has been examined already if the step repeats itself.
    if (steps && operation.sources[1].kind == Kind::immediate) {
      const auto before = reaching(producers, index, at);
      if (!before) return 0;
      for (const Place other : *before)
        if (std::find(places->begin(), places->end(), other) == places->end()) return 0;
      bits = std::min(bits, zero_bits_of(operation.sources[1].value));
    } else {
      bits = std::min(bits, bits_of_result(producers, operation, at, depth - 1));
    }
  }
  return bits;
}

}  // namespace

unsigned zero_bits(const Producers& producers, const ir::Operand& operand, Place use,
                   unsigned depth) {
  if (operand.kind == Kind::none) return all_bits;
  if (operand.kind == Kind::immediate) return zero_bits_of(operand.value);
  if (operand.kind != Kind::reg || depth == 0) return 0;
  if (!producers.definitions().is_single(operand.index))
    return producers.flow() ? bits_of_induction(producers, operand.index, use, depth) : 0;
  const ir::Operation* operation = producers.find(operand, use);
  if (operation == nullptr) return 0;
  return bits_of_result(producers, *operation, producers.definitions()[operand.index].definition,
                        depth);
}

namespace {

unsigned bits_of_result(const Producers& producers, const ir::Operation& operation, Place at,
                        unsigned depth) {
  const auto bits = [&](std::size_t s) {
    return depth == 0 ? 0 : zero_bits(producers, operation.sources[s], at, depth - 1);
  };
  const auto shift = [&](std::int64_t amount) {
    return static_cast<unsigned>(std::clamp<std::int64_t>(amount, 0, all_bits));
  };
  switch (operation.opcode) {
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
      return operation.part == MulPart::hi ? 0 : std::min(all_bits, bits(0) + bits(1));
    case Opcode::mad:
    case Opcode::mad_wide_add:
      return operation.part == MulPart::hi
                 ? 0
                 : std::min(std::min(all_bits, bits(0) + bits(1)), bits(2));
    case Opcode::shl:
      return operation.sources[1].kind == Kind::immediate
                 ? std::min(all_bits, bits(0) + shift(operation.sources[1].value))
                 : bits(0);
    case Opcode::lea:
      return std::min(std::min(all_bits, bits(0) + shift(operation.immediate)), bits(1));
    default:
      return 0;
  }
}

}  // namespace

}  // namespace lockstep::isa::lowering
