#include "models/isa/lowering/allocation/spill.hpp"

#include <algorithm>

#include "core/memory/round_up.hpp"
#include "models/isa/lowering/allocation/held_operands.hpp"
#include "models/isa/lowering/allocation/shifted_ranges.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

namespace {

/// Replaces a register by a short-lived one around each of its uses.
class Spiller {
 public:
  /// Makes the spiller; `made_by`: operation that makes the victim's constant, or nullptr.
  Spiller(ir::Function& function, std::uint32_t victim, const ir::Operation* made_by)
      : function_(function),
        victim_(victim),
        type_(function.registers[victim].type),
        made_by_(made_by) {
    is_predicate_ = type_ == Type::pred;
    if (made_by != nullptr) return;
    if (is_predicate_) {
      home_ = new_register(function, Type::b32);
    } else {
      const std::uint64_t bytes = rows_of(type_) * 4;
      offset_ = round_up(function.local_bytes, bytes);
      function.local_bytes = offset_ + bytes;
    }
  }

  std::vector<Detour> run() {
    let_go();
    std::vector<Detour> detours;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      auto& operations = function_.blocks[b].operations;
      if (std::none_of(operations.begin(), operations.end(),
                       [&](const ir::Operation& o) { return reads(o) || writes(o); }))
        continue;
      std::vector<ir::Operation> result;
      for (std::uint32_t o = 0; o < operations.size(); ++o)
        if (made_by_ != nullptr && writes(operations[o])) {
          continue;
        } else if (reads(operations[o]) || writes(operations[o])) {
          detours.push_back(rewrite(operations[o], result));
          detours.back().place = {b, o};
        } else {
          result.push_back(std::move(operations[o]));
        }
      operations = std::move(result);
    }
    return detours;
  }

 private:
  /// Waits hold registers, and the value has none any more.
  void let_go() {
    for (ir::Block& block : function_.blocks)
      for (ir::Operation& operation : block.operations)
        if (holds_operands(operation))
          std::erase_if(operation.sources, [&](const ir::Operand& source) {
            return is_register(source) && source.index == victim_;
          });
  }

  bool reads(const ir::Operation& operation) const {
    bool found = false;
    for_each_use(operation, [&](const ir::Operand& u) { found = found || u.index == victim_; });
    return found;
  }

  bool writes(const ir::Operation& operation) const {
    bool found = false;
    for_each_definition(operation,
                        [&](const ir::Operand& d) { found = found || d.index == victim_; });
    return found;
  }

  Detour rewrite(ir::Operation& operation, std::vector<ir::Operation>& result) {
    Detour detour;
    const std::uint32_t temporary = detour.temporary = new_register(function_, type_);
    // A guarded write keeps the values of other lanes; it may write its own guard, so all lanes are
    // saved.
    detour.loads = reads(operation) || is_guarded(operation);
    detour.saves = writes(operation);
    detour.writes_others = operation.destinations.size() > 1;
    const auto rename = [&](ir::Operand& operand) {
      if (operand.index != victim_) return;
      operand.index = temporary;
      ++detour.mentions;
    };
    for_each_use(operation, rename);
    for_each_definition(operation, rename);
    if (detour.loads) result.push_back(load(temporary, operation));
    ir::Operation save = store(temporary, operation);
    result.push_back(std::move(operation));
    if (detour.saves) result.push_back(std::move(save));
    return detour;
  }

  ir::Operand whole(std::uint32_t temporary) const {
    return is_predicate_ ? predicate_operand(temporary) : register_operand(temporary);
  }

  ir::Operation load(std::uint32_t temporary, const ir::Operation& beside) const {
    ir::Operation operation;
    if (made_by_ != nullptr) operation = *made_by_;
    operation.line = beside.line;
    operation.destinations = {whole(temporary)};
    if (made_by_ != nullptr) return operation;
    if (is_predicate_) {
      operation.opcode = Opcode::setp;
      operation.type = Type::u32;
      operation.comparison = Comparison::ne;
      operation.sources = {register_operand(home_), immediate_operand(0)};
    } else {
      operation.opcode = Opcode::fill;
      operation.type = rows_of(type_) == 2 ? Type::b64 : Type::b32;
      operation.space = Space::local;
      operation.offset = static_cast<std::int64_t>(offset_);
      operation.sources = {ir::Operand{}};
    }
    return operation;
  }

  ir::Operation store(std::uint32_t temporary, const ir::Operation& beside) const {
    ir::Operation operation;
    operation.line = beside.line;
    if (is_predicate_) {
      operation.opcode = Opcode::selp;
      operation.type = Type::b32;
      operation.destinations = {register_operand(home_)};
      operation.sources = {immediate_operand(1), immediate_operand(0), whole(temporary)};
    } else {
      operation.opcode = Opcode::spill;
      operation.type = rows_of(type_) == 2 ? Type::b64 : Type::b32;
      operation.space = Space::local;
      operation.offset = static_cast<std::int64_t>(offset_);
      operation.sources = {ir::Operand{}, whole(temporary)};
    }
    return operation;
  }

  ir::Function& function_;
  std::uint32_t victim_;
  Type type_;
  const ir::Operation* made_by_;
  bool is_predicate_ = false;
  std::uint32_t home_ = 0;    ///< register that holds a spilled predicate
  std::uint64_t offset_ = 0;  ///< offset of a spilled value in local memory
};

/// Returns whether the operation has the same result wherever it stands, without a register.
bool makes_constant(const ir::Operation& operation) {
  return operation.opcode == Opcode::mov && !is_guarded(operation) &&
         operation.sources.size() == 1 && operation.destinations.size() == 1 &&
         operation.destinations[0].kind == Kind::reg &&
         (operation.sources[0].kind == Kind::immediate || is_constant_bank(operation.sources[0]));
}

}  // namespace

Constants::Constants(const ir::Function& function) : made_by_(function.registers.size()) {
  const Definitions definitions(function);
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (makes_constant(operation) && definitions.is_single(operation.destinations[0].index))
        made_by_[operation.destinations[0].index] = operation;
}

void spill(ir::Function& function, const Flow& flow, std::uint32_t victim,
           const Constants& constants, std::vector<LiveRange>& ranges,
           std::vector<std::uint32_t>& temporaries) {
  const bool is_predicate = function.registers[victim].type == Type::pred;
  const ir::Operation* made_by = constants.find(victim);
  const std::vector<Detour> detours = Spiller(function, victim, made_by).run();
  for (const Detour& detour : detours) temporaries.push_back(detour.temporary);
  // Registers live under a guard change when the guard is another register.
  if (is_predicate || made_by != nullptr || !shift_ranges(function, flow, victim, detours, ranges))
    ranges = live_ranges(function);
}

}  // namespace lockstep::isa::lowering
