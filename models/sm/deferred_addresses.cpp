#include "models/sm/deferred_addresses.hpp"

#include <algorithm>

namespace lockstep {
namespace {

using isa::Category;
using isa::Instruction;
using isa::Operand;

/// An address is worth computing so often instead of once.
constexpr std::size_t most_uses = 2;

void no_effect(const Instruction&, isa::WarpContext&) {}

/// Whether control comes from the instruction before, and nowhere else, in all lanes at once.
bool straight(Category category) {
  return isa::is_memory(category) || category == Category::arithmetic ||
         category == Category::fence;
}

/// Rows of registers, some of them in pairs.
class Rows {
 public:
  explicit Rows(const isa::Program& program) : program_(program) {}

  bool overlap(Operand a, Operand b) const {
    return a.is_register() && b.is_register() && a.row() < end(b) && b.row() < end(a);
  }
  bool among(Operand operand, const auto& operands) const {
    return std::any_of(operands.begin(), operands.end(),
                       [&](Operand other) { return overlap(operand, other); });
  }
  bool live_before(Operand operand, std::size_t pc) const {
    for (unsigned row = operand.row(); row < end(operand); ++row)
      if ((program_.live_rows[pc][row / 64] >> row % 64) & 1) return true;
    return false;
  }

 private:
  unsigned end(Operand operand) const {
    return operand.row() + (operand.row() < program_.pair_rows ? 2u : 1u);
  }
  const isa::Program& program_;
};

/// pcs to which control comes from elsewhere.
std::vector<bool> entries(const isa::Program& program) {
  std::vector<bool> result(program.instructions.size() + 1, false);
  const auto enter = [&](std::uint32_t pc) {
    if (pc < result.size()) result[pc] = true;
  };
  for (const Instruction& instruction : program.instructions) {
    if (instruction.category == Category::branch || instruction.category == Category::call)
      enter(instruction.target);
    enter(instruction.reconvergence);
  }
  for (const auto& table : program.branch_tables)
    for (const std::uint32_t pc : table) enter(pc);
  for (const std::uint32_t pc : program.function_entries) enter(pc);
  return result;
}

bool computes_one_address(const Instruction& instruction) {
  return instruction.category == Category::arithmetic && instruction.guard == isa::no_predicate &&
         instruction.flags == 0 && instruction.destination[0].is_register() &&
         !instruction.destination[1].valid() &&
         instruction.predicate_destination[0] == isa::no_predicate &&
         instruction.predicate_destination[1] == isa::no_predicate &&
         instruction.predicate_source[0] == isa::no_predicate &&
         instruction.predicate_source[1] == isa::no_predicate && instruction.source[0].valid();
}

bool uses_as_global_address(const Instruction& instruction, Operand address) {
  const isa::Space space = instruction.memory.space;
  return isa::is_memory(instruction.category) && instruction.category != Category::prefetch &&
         (instruction.flags & isa::flag_address_wide) &&
         (space == isa::Space::global || space == isa::Space::generic) &&
         instruction.source[0] == address;
}

/// The pcs of the memory instructions that are all that uses what `pc` computes; none: it cannot
/// be deferred to them.
std::vector<std::uint32_t> deferrable_to(const isa::Program& program, const Rows& rows,
                                         const std::vector<bool>& entered, std::uint32_t pc) {
  const Instruction& computation = program.instructions[pc];
  const Operand address = computation.destination[0];
  std::vector<std::uint32_t> uses;
  bool sources_hold = !rows.among(address, computation.source);
  for (std::uint32_t at = pc + 1; at < program.instructions.size(); ++at) {
    const Instruction& instruction = program.instructions[at];
    if (entered[at] || !straight(instruction.category)) return {};
    const bool reads = rows.among(address, instruction.source);
    if (reads) {
      const bool as_data = std::any_of(instruction.source.begin() + 1, instruction.source.end(),
                                       [&](Operand s) { return rows.overlap(address, s); });
      if (!sources_hold || as_data || !uses_as_global_address(instruction, address)) return {};
      uses.push_back(at);
    }
    if (uses.size() > most_uses) return {};
    const bool replaced = rows.among(address, instruction.destination);
    if (replaced && instruction.guard != isa::no_predicate) return {};
    const bool last =
        replaced || at + 1 == program.instructions.size() || !rows.live_before(address, at + 1);
    if (last) return uses;
    for (const Operand source : computation.source)
      if (rows.among(source, instruction.destination)) sources_hold = false;
  }
  return {};
}

}  // namespace

DeferredAddresses defer_addresses(const isa::Program& program) {
  DeferredAddresses result;
  const auto count = static_cast<std::uint32_t>(program.instructions.size());
  result.instructions = program.instructions;
  result.computes_first.assign(count, false);
  result.deferred.assign(count, false);
  const Rows rows(program);
  const std::vector<bool> entered = entries(program);
  const Operand shared_row(Operand::scratch, 0);
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    if (!computes_one_address(program.instructions[pc])) continue;
    for (const std::uint32_t use : deferrable_to(program, rows, entered, pc)) {
      result.instructions[use].source[0] = shared_row;
      result.instructions[use].target = static_cast<std::uint32_t>(result.instructions.size());
      result.computes_first[use] = true;
      result.deferred[pc] = true;
    }
    if (!result.deferred[pc]) continue;
    result.instructions.push_back(program.instructions[pc]);
    result.instructions.back().destination[0] = shared_row;
    result.instructions[pc].execute = no_effect;
  }
  return result;
}

}  // namespace lockstep
