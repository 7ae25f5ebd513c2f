#include "models/isa/encode/row_layout.hpp"

#include <algorithm>

namespace lockstep::isa {
namespace {

bool takes_from_stack(const LinkedFunction& f) {
  const auto is_alloca = [](const ir::Operation& o) { return o.opcode == Opcode::stack_save; };
  return std::ranges::any_of(f.input.function->blocks, [&](const ir::Block& b) {
    return std::ranges::any_of(b.operations, is_alloca);
  });
}

}  // namespace

RowLayout::RowLayout(const Link& link) : call_pairs_(link.pairs), call_singles_(link.singles) {
  std::uint32_t singles = 0, pairs = 0;
  for (const LinkedFunction& f : link.functions) {
    const auto count = [&](const std::vector<ir::Operand>& formals) {
      std::uint32_t s = 0, p = 0;
      for (const ir::Operand& formal : formals)
        ++(rows_of(f.input.function->registers[formal.index].type) == 2 ? p : s);
      singles = std::max(singles, s);
      pairs = std::max(pairs, p);
    };
    count(f.input.function->inputs);
    count(f.input.function->results);
  }
  pairs_ = link.pairs + pairs;
  singles_ = link.singles + singles;
  if (link.recursive) {
    spare_pair_ = pairs_++;
    spare_single_ = singles_++;
    stack_pointer_ = singles_++;
  }
  if (std::ranges::any_of(link.functions, takes_from_stack)) stack_end_ = singles_++;
}

Operand RowLayout::pair(std::uint32_t n) const {
  return {Operand::registers, static_cast<std::uint16_t>(2 * n)};
}

Operand RowLayout::single(std::uint32_t n) const {
  return {Operand::registers, static_cast<std::uint16_t>(2 * pairs_ + n)};
}

std::vector<Operand> RowLayout::call_rows(const std::vector<Type>& types) const {
  std::uint32_t singles = call_singles_, pairs = call_pairs_;
  std::vector<Operand> rows;
  for (const Type type : types)
    rows.push_back(rows_of(type) == 2 ? pair(pairs++) : single(singles++));
  return rows;
}

}  // namespace lockstep::isa
