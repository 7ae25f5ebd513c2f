/// ptxas writes IMAD.MOV, IMAD.IADD and IMAD.SHL for a part of the moves, additions and shifts:
/// products run on the FMA pipe, and with half of the work on each of the two pipes they take an
/// instruction every cycle together.
/// Source: what ptxas 13.0 makes for sm_75 of kernels of the table in docs/validation/lowering.md.
///
/// Simplified: the work is balanced within each stretch between branches, by the cycles that units
/// are busy.
#include "models/sm/tables/balanced_pipes.hpp"

#include <algorithm>

#include "models/sm/tables/expansion_timing.hpp"

namespace lockstep {
namespace {

using isa::Instruction;
using isa::Opcode;

/// Returns whether the instruction is a single 32-bit machine operation that IMAD can do as well.
bool can_multiply(const Instruction& instruction) {
  if (instruction.issue_slots != 1 || !instruction.destination[0].is_register() ||
      instruction.predicate_destination[0] != isa::no_predicate ||
      instruction.predicate_source[0] != isa::no_predicate)
    return false;
  switch (instruction.opcode) {
    case Opcode::mov:
      return instruction.source[0].valid();  // without a source, the move reads a special register
    case Opcode::add:
    case Opcode::sub:
      return instruction.unit == isa::Unit::integer;
    case Opcode::shl:
      return instruction.source[1].valid() &&
             instruction.source[1].base() == isa::Operand::immediates;
    default:
      return false;
  }
}

class Stretch {
 public:
  Stretch(const isa::Program& program, const SmParameters& parameters,
          std::vector<IssueRecord>& records)
      : program_(program),
        integer_(static_cast<std::uint8_t>(present_unit(isa::Unit::integer, parameters.units))),
        multiply_(static_cast<std::uint8_t>(multiply_unit(parameters))),
        records_(records) {}

  void balance(std::size_t from, std::size_t to) {
    // Cycles that the integer unit has more work than the other.
    std::int64_t work = 0, movable = 0;
    std::int64_t moved = 1;  // cycles of a moved instruction
    for (std::size_t pc = from; pc < to; ++pc) {
      const std::int64_t cycles = records_[pc].interval;
      work += records_[pc].unit == integer_ ? cycles : records_[pc].unit == multiply_ ? -cycles : 0;
      if (!can_move(pc)) continue;
      ++movable;
      moved = cycles;
    }
    const std::int64_t wanted = std::clamp<std::int64_t>(work / (2 * moved), 0, movable);
    std::int64_t seen = 0;
    for (std::size_t pc = from; pc < to && wanted > 0; ++pc) {
      if (!can_move(pc)) continue;
      const std::int64_t before = seen * wanted / movable;
      if (++seen * wanted / movable > before) records_[pc].unit = multiply_;
    }
  }

 private:
  bool can_move(std::size_t pc) const {
    return records_[pc].unit == integer_ && can_multiply(program_.instructions[pc]);
  }

  const isa::Program& program_;
  const std::uint8_t integer_, multiply_;
  std::vector<IssueRecord>& records_;
};

}  // namespace

void balance_pipes(const isa::Program& program, const SmParameters& parameters,
                   std::vector<IssueRecord>& records) {
  Stretch stretch(program, parameters, records);
  std::size_t from = 0;
  for (std::size_t pc = 0; pc < records.size(); ++pc) {
    if (program.instructions[pc].unit != isa::Unit::control) continue;
    stretch.balance(from, pc);
    from = pc + 1;
  }
  stretch.balance(from, records.size());
}

}  // namespace lockstep
