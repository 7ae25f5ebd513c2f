#include "models/sm/tables/forwarded_copies.hpp"

#include <optional>

#include "models/isa/encode/encode.hpp"
#include "models/isa/encode/successors.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/sm/tables/no_effect.hpp"

namespace lockstep {
namespace {

using isa::Category;
using isa::Instruction;
using isa::Operand;

/// For each row (the first of a pair): the operand of which all its lanes hold a copy; invalid:
/// unknown contents.
using Copies = std::vector<Operand>;

bool is_copy(const Instruction& instruction) {
  return instruction.category == Category::arithmetic && instruction.opcode == isa::Opcode::mov &&
         instruction.guard == isa::no_predicate && instruction.destination[0].is_register() &&
         !instruction.destination[1].valid() && instruction.source[0].valid() &&
         (instruction.source[0].base() == Operand::immediates ||
          instruction.source[0].base() == Operand::constants);
}

void execute(const isa::Program& program, const Instruction& instruction, Copies& copies) {
  for (const Operand destination : isa::destinations_of(program, instruction)) {
    if (!destination.is_register()) continue;
    for (unsigned i = 0; i < program.width(destination.row()); ++i)
      copies[destination.row() + i] = {};
  }
  if (is_copy(instruction)) copies[instruction.destination[0].row()] = instruction.source[0];
}

/// Keeps the copies that hold on both ways.  Returns whether some were lost.
bool meet(Copies& copies, const Copies& other) {
  bool changed = false;
  for (std::size_t row = 0; row < copies.size(); ++row) {
    if (!copies[row].valid() || copies[row] == other[row]) continue;
    copies[row] = {};
    changed = true;
  }
  return changed;
}

/// Returns the copies that hold before each pc; nothing where control never comes.
std::vector<std::optional<Copies>> find_copies(
    const isa::Program& program, const std::vector<std::vector<std::uint32_t>>& next) {
  std::vector<std::optional<Copies>> before(program.instructions.size());
  before[0] = Copies(program.rows);
  std::vector<std::uint32_t> left{0};
  while (!left.empty()) {
    const std::uint32_t pc = left.back();
    left.pop_back();
    Copies after = *before[pc];
    execute(program, program.instructions[pc], after);
    for (const std::uint32_t n : next[pc]) {
      const bool first = !before[n].has_value();
      if (first) before[n] = after;
      if (meet(*before[n], after) || first) left.push_back(n);
    }
  }
  return before;
}

bool live_after(const isa::Program& program, const std::vector<std::uint32_t>& next, unsigned row) {
  for (const std::uint32_t pc : next)
    if (program.live_before(pc, row)) return true;
  return false;
}

}  // namespace

void forward_copies(isa::Program& program) {
  const auto next = isa::successors(program);
  const auto before = find_copies(program, next);
  for (std::size_t pc = 0; pc < before.size(); ++pc) {
    Instruction& instruction = program.instructions[pc];
    // Other instructions may read lanes that do not execute here; such lanes need not have made the
    // copy.
    const bool own_lanes =
        instruction.category == Category::arithmetic || isa::is_memory(instruction.category);
    if (!before[pc] || !own_lanes) continue;
    const auto forward = [&](Operand& source) {
      if (source.is_register() && (*before[pc])[source.row()].valid())
        source = (*before[pc])[source.row()];
    };
    isa::for_each_named_source(program, instruction, forward);
  }
  isa::find_live_rows(program);
  for (std::size_t pc = 0; pc < before.size(); ++pc) {
    Instruction& instruction = program.instructions[pc];
    if (is_copy(instruction) && !live_after(program, next[pc], instruction.destination[0].row()))
      instruction.execute = no_effect;
  }
}

}  // namespace lockstep
