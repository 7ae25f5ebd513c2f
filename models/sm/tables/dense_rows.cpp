#include "models/sm/tables/dense_rows.hpp"

#include "models/isa/operand_lists.hpp"
#include "models/sm/tables/no_effect.hpp"

namespace lockstep {
namespace {

void for_each_register(DeferredValues& issued, auto&& function) {
  for (isa::Instruction& instruction : issued.instructions)
    if (has_effect(instruction))
      isa::for_each_named_row(issued, instruction, [&](isa::Operand& operand) {
        if (operand.is_register()) function(operand);
      });
}

}  // namespace

DenseRows number_densely(DeferredValues& issued, const isa::Program& program) {
  std::vector<bool> used(program.rows, false);
  for_each_register(issued, [&](isa::Operand operand) { used[operand.row()] = true; });
  DenseRows result;
  std::vector<std::uint16_t> number(program.rows);
  for (std::uint32_t row = 0; row < program.rows; ++row) {
    if (row == program.pair_rows) result.pair_rows = result.rows;
    if (!used[row]) continue;
    const std::uint32_t count = program.width(row);
    number[row] = static_cast<std::uint16_t>(result.rows);
    if (program.live_before(0, row))
      for (std::uint32_t i = 0; i < count; ++i)
        result.read_first.push_back(static_cast<std::uint8_t>(result.rows + i));
    result.rows += count;
  }
  if (program.pair_rows >= program.rows) result.pair_rows = result.rows;
  for_each_register(issued, [&](isa::Operand& operand) {
    operand = isa::Operand(isa::Operand::registers, number[operand.row()]);
  });
  return result;
}

}  // namespace lockstep
