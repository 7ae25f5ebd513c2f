#include "models/isa/interpreter/straight_code.hpp"

#include "models/isa/ir.hpp"
#include "models/isa/matrix/matrix_rows.hpp"

namespace lockstep::isa {
namespace {

/// Returns whether the instruction may read a clock: another immediate may have the number of one.
bool may_read_clock(const Instruction& instruction) {
  if (instruction.opcode != Opcode::mov) return false;
  const auto number = static_cast<std::uint32_t>(instruction.offset);
  return number >= static_cast<std::uint32_t>(ir::SpecialRegister::clock) &&
         number <= static_cast<std::uint32_t>(ir::SpecialRegister::globaltimer_hi);
}

StraightCode::Step step_of(const Instruction& instruction) {
  if (instruction.category == Category::arithmetic && !may_read_clock(instruction))
    return {instruction.execute};
  if (moves_matrices(instruction)) return {};
  return {nullptr, select_moves(instruction),
          instruction.category == Category::load && instruction.memory.space == Space::shared};
}

}  // namespace

StraightCode::StraightCode(const Program& program, bool with_moves)
    : lengths_(program.instructions.size()), slots_before_{0} {
  for (const Instruction& instruction : program.instructions) {
    steps_.push_back(step_of(instruction));
    slots_before_.push_back(slots_before_.back() + instruction.issue_slots);
  }
  std::uint32_t length = 0;
  for (std::size_t pc = steps_.size(); pc-- > 0;) {
    const bool moves = with_moves && steps_[pc].moves.move != nullptr;
    const bool is_in_one = moves || steps_[pc].execute != nullptr;
    length = is_in_one ? length + 1 : 0;
    lengths_[pc] = length;
  }
}

}  // namespace lockstep::isa
