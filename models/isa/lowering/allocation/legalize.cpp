/// Operand legalisation: a machine instruction takes one constant (immediate or constant bank), and
/// only at some places; zero comes from the zero register.  Other constants are moved into
/// registers, once for all users that the move dominates and in front of the loops around them.
/// Source: architecture.md, section 3 "isa".
#include <vector>

#include "models/isa/lowering/allocation/passes.hpp"
#include "models/isa/lowering/analysis/evaluate.hpp"
#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

class Legalization {
 public:
  explicit Legalization(ir::Function& function)
      : function_(function), flow_(function), at_end_(function.blocks.size()) {}

  void run() {
    for (std::uint32_t b : flow_.order) {
      std::vector<ir::Operation> operations;
      for (ir::Operation& operation : function_.blocks[b].operations) {
        while (legalize_one(operation, b, operations)) {
        }
        operations.push_back(std::move(operation));
      }
      function_.blocks[b].operations = std::move(operations);
    }
    for (std::uint32_t b = 0; b < at_end_.size(); ++b) {
      auto& operations = function_.blocks[b].operations;
      auto end = operations.end();
      while (end != operations.begin() && (is_branch(*(end - 1)) || ends_block(*(end - 1)))) --end;
      operations.insert(end, at_end_[b].begin(), at_end_[b].end());
    }
  }

 private:
  struct Move {
    ir::Operand constant;
    Type type;
    std::uint32_t block, result;
  };

  // The source that has to go into a register next, or -1.
  static int offender(const ir::Operation& operation) {
    if (has_trait(operation.opcode, takes_every_constant)) return -1;
    for (std::size_t s = 0; s < operation.sources.size(); ++s) {
      const ir::Operand& source = operation.sources[s];
      const bool address = s == 0 && accesses_memory(operation.opcode);
      if (address && source.kind != Kind::parameter && source.kind != Kind::global_symbol) continue;
      if (is_constant_operand(operation, s) && (address || needs_register(operation, s)))
        return static_cast<int>(s);
    }
    if (constant_operands(operation) < 2) return -1;
    int best = -1;
    for (std::size_t s = 0; s < operation.sources.size(); ++s) {
      if (!is_constant_operand(operation, s) || constant_type(operation, s) == Type::none) continue;
      const bool narrow = bytes_of(constant_type(operation, s)) <= 4;
      if (best < 0 || (narrow && operation.sources[s].kind == Kind::immediate))
        best = static_cast<int>(s);
    }
    return best;
  }

  static bool needs_register(const ir::Operation& operation, std::size_t s) {
    return writes_memory(operation) && s > 0;
  }

  static Type move_type(const ir::Operation& operation, std::size_t s) {
    const ir::Operand& source = operation.sources[s];
    if (source.kind == Kind::parameter) return source.type;
    if (source.kind == Kind::global_symbol) return Type::u64;
    if (writes_memory(operation)) return s == 0 ? Type::u64 : operation.type;
    return constant_type(operation, s);
  }

  bool legalize_one(ir::Operation& operation, std::uint32_t b, std::vector<ir::Operation>& before) {
    const int s = offender(operation);
    if (s < 0) return false;
    ir::Operand& source = operation.sources[static_cast<std::size_t>(s)];
    const Type type = move_type(operation, static_cast<std::size_t>(s));
    ir::Operand constant = source;
    if (constant.kind == Kind::immediate) constant.value = as_type(constant.value, type);
    const Type read_as = source.kind == Kind::parameter && s > 0 ? Type::none : source.type;
    source = register_operand(register_with(constant, type, b, operation.line, before));
    source.type = read_as;
    return true;
  }

  std::uint32_t register_with(const ir::Operand& constant, Type type, std::uint32_t b,
                              std::uint32_t line, std::vector<ir::Operation>& before) {
    for (const Move& move : moves_)
      if (same_value(move.constant, constant) && bytes_of(move.type) == bytes_of(type) &&
          flow_.dominates(move.block, b))
        return move.result;
    const std::uint32_t home = in_front_of_loops(b);
    ir::Operation move;
    move.opcode = Opcode::mov;
    move.type = type;
    move.line = line;
    move.sources = {constant};
    const Type declared = bytes_of(type) == 8   ? Type::b64
                          : bytes_of(type) == 4 ? Type::b32
                                                : Type::b16;
    const std::uint32_t result = new_register(function_, declared);
    move.destinations = {register_operand(result)};
    (home == b ? before : at_end_[home]).push_back(std::move(move));
    moves_.push_back({constant, type, home, result});
    return result;
  }

  // The block before the outermost loop around this one that has a single entrance.
  std::uint32_t in_front_of_loops(std::uint32_t b) const {
    for (const Flow::Loop& loop : flow_.loops) {
      if (!loop.contains[b]) continue;
      std::uint32_t entrance = Flow::unreachable;
      bool single = true;
      for (std::uint32_t p : flow_.predecessors[loop.header]) {
        if (!flow_.reachable(p) || loop.contains[p]) continue;
        single = single && entrance == Flow::unreachable;
        entrance = p;
      }
      if (single && entrance != Flow::unreachable) b = entrance;
    }
    return b;
  }

  ir::Function& function_;
  const Flow flow_;
  std::vector<std::vector<ir::Operation>> at_end_;  ///< moves to append to blocks
  std::vector<Move> moves_;
};

}  // namespace

void legalize_operands(ir::Function& function) {
  Legalization(function).run();
}

}  // namespace lockstep::isa::lowering
