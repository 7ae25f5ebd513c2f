#include "models/sm/tables/deferred_values.hpp"

#include <algorithm>

#include "models/isa/ir.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/sm/tables/no_effect.hpp"

namespace lockstep {
namespace {

using isa::Category;
using isa::Instruction;
using isa::Operand;

/// Largest number of uses at which a value is computed instead of once in its own place.
constexpr std::size_t most_uses = 2;

/// Returns whether control goes on to the next instruction, and nowhere else, in all lanes.
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
      if (program_.live_before(pc, row)) return true;
    return false;
  }

 private:
  unsigned end(Operand operand) const { return operand.row() + program_.width(operand.row()); }
  const isa::Program& program_;
};

/// Returns the pcs to which control comes from elsewhere.
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

bool computes_one_value(const Instruction& instruction) {
  return instruction.category == Category::arithmetic && has_effect(instruction) &&
         instruction.guard == isa::no_predicate && instruction.flags == 0 &&
         instruction.destination[0].is_register() && !instruction.destination[1].valid() &&
         instruction.predicate_destination[0] == isa::no_predicate &&
         instruction.predicate_destination[1] == isa::no_predicate &&
         instruction.predicate_source[0] == isa::no_predicate &&
         instruction.predicate_source[1] == isa::no_predicate;
}

bool is_special(const Instruction& instruction) {
  return instruction.category == Category::arithmetic && instruction.opcode == isa::Opcode::mov &&
         !instruction.source[0].valid() && instruction.predicate_source[0] == isa::no_predicate;
}

/// Returns whether the instruction reads a special register that is constant for the life of a
/// warp.
bool is_lasting_special(const Instruction& instruction) {
  return computes_one_value(instruction) && is_special(instruction) &&
         instruction.offset <= static_cast<std::int32_t>(isa::ir::SpecialRegister::laneid);
}

bool uses_as_global_address(const Instruction& instruction, Operand address) {
  const isa::Space space = instruction.memory.space;
  return isa::is_memory(instruction.category) && instruction.category != Category::prefetch &&
         (instruction.flags & isa::flag_address_wide) &&
         (space == isa::Space::global || space == isa::Space::generic) &&
         instruction.source[0] == address;
}

/// Returns the row of a special register among the shared rows, behind the rows of the address and
/// of the unused value.
Operand special_row(std::size_t index) {
  return {Operand::scratch, static_cast<std::uint16_t>(2 * (index + 1))};
}

/// Executes the chain that begins `offset` instructions after `target`, counted from this one.
void execute_chain(const Instruction& instruction, isa::WarpContext& context) {
  const Instruction* at = &instruction + instruction.target;
  for (const Instruction* const end = at + instruction.offset; at != end; ++at)
    at->execute(*at, context);
}

class Deferral {
 public:
  explicit Deferral(const isa::Program& program)
      : program_(program), rows_(program), entered_(entries(program)) {
    const std::size_t count = program.instructions.size();
    result_.instructions = program.instructions;
    result_.operand_lists = program.operand_lists;
    result_.computes_address.assign(count, false);
    result_.reads_special.assign(count, false);
  }

  DeferredValues run() {
    const auto count = static_cast<std::uint32_t>(program_.instructions.size());
    for (std::uint32_t pc = 0; pc < count; ++pc)
      if (computes_one_value(program_.instructions[pc])) defer_address(pc);
    std::vector<std::vector<std::uint32_t>> specials(count);
    for (std::uint32_t pc = 0; pc < count; ++pc)
      if (is_lasting_special(program_.instructions[pc])) defer_special(pc, specials);
    for (std::uint32_t pc = 0; pc < count; ++pc) {
      const Instruction& instruction = result_.instructions[pc];
      result_.reads_special[pc] = is_special(instruction) && has_effect(instruction);
      if (!specials[pc].empty()) chain(pc, specials[pc]);
    }
    return std::move(result_);
  }

 private:
  /// Returns the pcs of all instructions that use the value computed at `pc`, if `allowed(pc of the
  /// use, value)` holds for each; none: the computation cannot be deferred to them.
  std::vector<std::uint32_t> deferrable_to(std::uint32_t pc, auto&& allowed) const {
    const Instruction& computation = program_.instructions[pc];
    const Operand value = computation.destination[0];
    std::vector<std::uint32_t> uses;
    bool sources_hold = !rows_.among(value, computation.source);
    for (std::uint32_t at = pc + 1; at < program_.instructions.size(); ++at) {
      const Instruction& instruction = program_.instructions[at];
      if (entered_[at] || !straight(instruction.category)) return {};
      if (rows_.among(value, isa::sources_of(program_, instruction))) {
        if (!sources_hold || !allowed(at, value)) return {};
        uses.push_back(at);
      }
      if (uses.size() > most_uses) return {};
      const std::span<const Operand> destinations = isa::destinations_of(program_, instruction);
      const bool replaced = rows_.among(value, destinations);
      if (replaced && instruction.guard != isa::no_predicate) return {};
      const bool last =
          replaced || at + 1 == program_.instructions.size() || !rows_.live_before(value, at + 1);
      if (last) return uses;
      for (const Operand source : computation.source)
        if (rows_.among(source, destinations)) sources_hold = false;
    }
    return {};
  }

  void defer_address(std::uint32_t pc) {
    const auto as_address = [&](std::uint32_t at, Operand value) {
      const Instruction& instruction = program_.instructions[at];
      const bool as_data =
          std::any_of(instruction.source.begin() + 1, instruction.source.end(),
                      [&](Operand source) { return rows_.overlap(value, source); });
      return !as_data && uses_as_global_address(instruction, value);
    };
    const std::vector<std::uint32_t> uses = deferrable_to(pc, as_address);
    if (uses.empty()) return;
    const Operand shared_row(Operand::scratch, 0);
    for (const std::uint32_t use : uses) {
      result_.instructions[use].source[0] = shared_row;
      result_.instructions[use].target = static_cast<std::uint32_t>(result_.instructions.size());
      result_.computes_address[use] = true;
    }
    append(program_.instructions[pc], shared_row);
    result_.instructions[pc].execute = no_effect;
  }

  /// Notes the special register's value with its uses.
  void defer_special(std::uint32_t pc, std::vector<std::vector<std::uint32_t>>& specials) {
    const auto in_arithmetic = [&](std::uint32_t at, Operand) {
      const Instruction& issued = result_.instructions[at];
      return issued.category == Category::arithmetic && has_effect(issued) &&
             !(issued.flags & isa::flag_needs_all_lanes) && !isa::is_listed(issued);
    };
    const std::vector<std::uint32_t> uses = deferrable_to(pc, in_arithmetic);
    if (uses.empty()) return;
    for (const std::uint32_t use : uses) specials[use].push_back(pc);
    result_.instructions[pc].execute = no_effect;
  }

  /// Has the instruction compute these first.
  void chain(std::uint32_t pc, const std::vector<std::uint32_t>& specials) {
    Instruction user = result_.instructions[pc];
    for (std::size_t i = 0; i < specials.size(); ++i)
      for (Operand& source : user.source)
        if (source == program_.instructions[specials[i]].destination[0]) source = special_row(i);
    Instruction& issued = result_.instructions[pc];
    issued.source = user.source;
    issued.execute = execute_chain;
    issued.target = static_cast<std::uint32_t>(result_.instructions.size()) - pc;
    issued.offset = static_cast<std::int32_t>(specials.size()) + 1;
    result_.reads_special[pc] = true;
    for (std::size_t i = 0; i < specials.size(); ++i)
      append(program_.instructions[specials[i]], special_row(i));
    result_.instructions.push_back(user);
  }

  void append(const Instruction& computation, Operand destination) {
    result_.instructions.push_back(computation);
    result_.instructions.back().destination[0] = destination;
  }

  const isa::Program& program_;
  Rows rows_;
  std::vector<bool> entered_;
  DeferredValues result_;
};

}  // namespace

DeferredValues nothing_deferred(const isa::Program& program) {
  DeferredValues result{program.instructions, program.operand_lists, {}, {}};
  result.computes_address.assign(program.instructions.size(), false);
  for (const Instruction& instruction : program.instructions)
    result.reads_special.push_back(is_special(instruction));
  return result;
}

DeferredValues defer_values(const isa::Program& program) {
  return Deferral(program).run();
}

}  // namespace lockstep
