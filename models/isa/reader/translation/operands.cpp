#include "models/isa/reader/translation/operands.hpp"

#include <bit>

#include "models/isa/reader/names/names.hpp"
#include "models/isa/reader/translation/expansion.hpp"
#include "models/isa/reader/translation/grid_workspace.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;
using Argument = syntax::Operand;

void OperandReader::check_width(const PtxInstruction& instruction, const syntax::Operand& operand,
                                Type declared, Type type, bool wider) const {
  if (declared == Type::pred)
    instruction.fail(operand.at,
                     operand.text + " is a predicate, " + instruction.text() + " needs a register",
                     "select a value by it with selp");
  const unsigned have = bytes_of(declared), need = bytes_of(type);
  if (have == need || (wider && have > need) || (need == 1 && have == 2)) return;
  instruction.fail(operand.at,
                   "register " + operand.text + " has " + std::to_string(8 * have) + " bits, " +
                       instruction.text() + " needs " + std::to_string(8 * need),
                   "convert it with cvt, or use another type of the instruction");
}

void OperandReader::check_plain(const PtxInstruction& instruction,
                                const syntax::Operand& operand) const {
  if (!operand.selector.empty() || operand.minus)
    instruction.fail(operand.at,
                     "only video instructions negate or select parts of " + operand.text,
                     "negate with neg, take parts with prmt or bfe");
}

ir::Operand OperandReader::predicate(const PtxInstruction& instruction,
                                     const syntax::Operand& operand) {
  ir::Operand result;
  result.kind = Kind::predicate;
  result.negated = operand.negated;
  if (operand.kind == Argument::Kind::integer) {
    // A constant has no row among predicates, so it is compared into one.
    ir::Operation compare = instruction.plain(Opcode::setp, Type::u32);
    compare.comparison = Comparison::ne;
    compare.sources.push_back(immediate(instruction, operand, Type::u32));
    compare.sources.emplace_back().kind = Kind::immediate;
    compare.sources.back().value = 0;
    result.index = code_.new_register(Type::pred, "%constant");
    compare.destinations.push_back(result);
    code_.append(std::move(compare));
    return result;
  }
  if (operand.text == "_") {
    result.index = code_.new_register(Type::pred, "_");
    return result;
  }
  if (operand.text == "%is_explicit_cluster" && code_.lookup(operand.text) == nullptr) {
    // The machine's special registers are words.
    ir::Operation compare = instruction.plain(Opcode::setp, Type::u32);
    compare.comparison = Comparison::ne;
    compare.sources = {
        read_special(instruction, ir::SpecialRegister::is_explicit_cluster, operand.text),
        ir::immediate_operand(0)};
    result.index = code_.new_register(Type::pred, operand.text);
    compare.destinations = {ir::predicate_operand(result.index)};
    code_.append(std::move(compare));
    return result;
  }
  const Symbol& symbol = code_.find(operand);
  if (symbol.kind != Symbol::Kind::reg || symbol.type != Type::pred)
    instruction.fail(operand.at, operand.text + " is no predicate register",
                     "declare it with .reg .pred, or compare it with setp");
  result.index = symbol.index;
  return result;
}

ir::Operand OperandReader::immediate(const PtxInstruction& instruction,
                                     const syntax::Operand& operand, Type type) const {
  ir::Operand result;
  result.kind = Kind::immediate;
  std::uint64_t bits = operand.bits;
  if (operand.kind != Argument::Kind::integer) {
    const bool is_single = operand.kind == Argument::Kind::single;
    const double number = is_single ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                    : std::bit_cast<double>(bits);
    if (bytes_of(type) == 8 && is_single) {
      bits = std::bit_cast<std::uint64_t>(number);
    } else if (bytes_of(type) == 4 && !is_single) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    } else if (bytes_of(type) < 4) {
      instruction.fail(operand.at, "floating-point constant in " + instruction.text(),
                       "write its bits, as 0x3c00 for 1 in .f16");
    }
  } else if (type == Type::f32) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(bits)));
  } else if (type == Type::f64) {
    bits = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(bits)));
  }
  if (bytes_of(type) < 8) bits &= (std::uint64_t{1} << 8 * bytes_of(type)) - 1;
  result.value = static_cast<std::int64_t>(bits);
  return result;
}

ir::Operand OperandReader::source(const PtxInstruction& instruction, const syntax::Operand& operand,
                                  Type type, bool wider) {
  switch (operand.kind) {
    case Argument::Kind::integer:
    case Argument::Kind::single:
    case Argument::Kind::double_:
      return immediate(instruction, operand, type);
    case Argument::Kind::name:
      break;
    default:
      instruction.fail(operand.at,
                       "operand of " + instruction.text() + " must be a register or constant");
  }
  if (operand.negated)
    instruction.fail(operand.at, "only predicates are negated with '!'", "use not, neg or cnot");
  check_plain(instruction, operand);
  const Symbol* known = code_.lookup(operand.text);
  if (known != nullptr && known->kind == Symbol::Kind::parameter_pointer && bytes_of(type) == 8)
    return structure_address(instruction, *known, operand.addend);
  if (known == nullptr) {
    if (const auto special = special_register_named(operand.text)) {
      check_width(instruction, operand, type_of(*special), type, true);
      return read_special(instruction, *special, operand.text);
    }
    if (operand.text == "%envreg1" || operand.text == "%envreg2") {
      check_width(instruction, operand, Type::b32, type, wider);
      return workspace_half(code_, instruction, operand.text == "%envreg1");
    }
    if (operand.text == "%reserved_smem_offset_cap") {
      check_width(instruction, operand, Type::b32, type, wider);
      return ir::immediate_operand(reserved_shared_bytes);
    }
  }
  return symbol_operand(instruction, operand, type, wider);
}

/// Returns the generic address of a structure that a caller gave; ld.param on it is a generic
/// access.
ir::Operand OperandReader::structure_address(const PtxInstruction& instruction,
                                             const Symbol& structure, std::int64_t addend) {
  const ir::Operand wide = ir::register_operand(code_.new_register(Type::b64));
  widen(code_, instruction, ir::register_operand(structure.index), wide, Type::u64);
  return compute(code_, instruction, Opcode::add, Type::u64, wide,
                 ir::immediate_operand(static_cast<std::int64_t>(local_window_base) + addend));
}

/// Returns a copy of a special register, since only mov reads one.
ir::Operand OperandReader::read_special(const PtxInstruction& instruction,
                                        ir::SpecialRegister special, const std::string& name) {
  const Type width = type_of(special);
  ir::Operation read = instruction.plain(Opcode::mov, width);
  read.guard = instruction.operation.guard;
  ir::Operand from, to;
  from.kind = Kind::special;
  from.index = static_cast<std::uint32_t>(special);
  to.kind = Kind::reg;
  to.index = code_.new_register(width, name);
  read.sources.push_back(from);
  read.destinations.push_back(to);
  code_.append(std::move(read));
  return to;
}

ir::Operand OperandReader::symbol_operand(const PtxInstruction& instruction,
                                          const syntax::Operand& operand, Type type,
                                          bool wider) const {
  const Symbol& symbol = code_.find(operand);
  ir::Operand result;
  result.index = symbol.index;
  result.value = operand.addend;
  switch (symbol.kind) {
    case Symbol::Kind::reg:
    case Symbol::Kind::parameter:
      if (operand.addend != 0)
        instruction.fail(operand.at, "register plus constant outside of an address",
                         "add it with add before");
      check_width(instruction, operand, symbol.type, type, wider);
      result.kind = Kind::reg;
      if (bytes_of(symbol.type) != bytes_of(type)) result.type = symbol.type;
      return result;
    case Symbol::Kind::global:
      result.kind = Kind::global_symbol;
      return result;
    case Symbol::Kind::constant:
      result.kind = Kind::constant_symbol;
      return result;
    case Symbol::Kind::shared:
      result.kind = Kind::shared_symbol;
      result.value += static_cast<std::int64_t>(symbol.value);
      return result;
    case Symbol::Kind::local:
    case Symbol::Kind::parameter_bytes:
      result.kind = Kind::local_symbol;
      return result;
    case Symbol::Kind::function:
      result.kind = Kind::function;
      return result;
    case Symbol::Kind::kernel_parameter:
      result.kind = Kind::immediate;
      result.index = ir::no_register;
      result.value += static_cast<std::int64_t>(parameter_window_base + symbol.value);
      return result;
    case Symbol::Kind::parameter_pointer:
      result.kind = Kind::reg;
      if (operand.addend != 0 || bytes_of(type) != 4)
        instruction.fail(operand.at,
                         "address of parameter " + operand.text + " is not supported here",
                         "take it with mov.b32, or copy the parameter to .local");
      return result;
    default:
      instruction.fail(operand.at, operand.text + " is no operand of " + instruction.text());
  }
}

ir::Operand OperandReader::destination(const PtxInstruction& instruction,
                                       const syntax::Operand& operand, Type type,
                                       bool wider) const {
  ir::Operand result;
  if (operand.kind != Argument::Kind::name || operand.negated)
    instruction.fail(operand.at, "destination of " + instruction.text() + " must be a register");
  check_plain(instruction, operand);
  if (operand.text == "_") {
    result.kind = Kind::discard;
    return result;
  }
  const Symbol& symbol = code_.find(operand);
  if (symbol.kind != Symbol::Kind::reg)
    instruction.fail(operand.at, "destination " + operand.text + " is no register");
  check_width(instruction, operand, symbol.type, type, wider);
  result.kind = Kind::reg;
  result.index = symbol.index;
  if (bytes_of(symbol.type) != bytes_of(type)) result.type = symbol.type;
  return result;
}

ir::Operand OperandReader::label(const PtxInstruction& instruction,
                                 const syntax::Operand& operand) const {
  const Symbol& symbol = code_.find(operand);
  if (symbol.kind != Symbol::Kind::label)
    instruction.fail(operand.at, operand.text + " is no label",
                     "write \"" + operand.text + ":\" before the instruction to branch to");
  ir::Operand result;
  result.kind = Kind::label;
  result.index = symbol.index;
  return result;
}

void OperandReader::address(PtxInstruction& instruction, const syntax::Operand& operand) {
  if (operand.kind != Argument::Kind::address || operand.children.size() != 1)
    instruction.fail(operand.at, instruction.text() + " needs an address in brackets");
  const Argument& base = operand.children.front();
  ir::Operation& operation = instruction.operation;
  if (base.kind == Argument::Kind::integer) {
    operation.sources.push_back(immediate(instruction, base, Type::b64));
    return;
  }
  if (base.kind != Argument::Kind::name)
    instruction.fail(base.at, "malformed address", "write it as [register + constant]");
  operation.offset = base.addend;
  const Symbol& symbol = code_.find(base);
  Argument plain_base = base;
  plain_base.addend = 0;
  const bool is_register = symbol.kind == Symbol::Kind::reg;
  if (is_register && bytes_of(symbol.type) != 4 && bytes_of(symbol.type) != 8)
    instruction.fail(base.at, "address register " + base.text + " has neither 32 nor 64 bits",
                     "widen it with cvt.u64");
  operation.sources.push_back(
      source(instruction, plain_base, is_register ? symbol.type : Type::b64));
  operation.sources.back().type = is_register && bytes_of(symbol.type) == 4 ? Type::b32 : Type::b64;
}

ir::Operand OperandReader::call_operand(const PtxInstruction& instruction, const Argument& name) {
  if (name.kind != Argument::Kind::name) return source(instruction, name, Type::b32);
  const Symbol& symbol = code_.find(name);
  ir::Operand operand;
  operand.kind = symbol.type == Type::pred ? Kind::predicate : Kind::reg;
  operand.index = symbol.index;
  operand.type = symbol.type;
  if (symbol.kind == Symbol::Kind::parameter_bytes) {
    operand.kind = Kind::local_symbol;
    operand.type = Type::b32;
  } else if (symbol.kind != Symbol::Kind::parameter && symbol.kind != Symbol::Kind::reg) {
    instruction.fail(name.at, name.text + " is no parameter of a call",
                     "declare it with .param before the call, or give a register");
  }
  return operand;
}

}  // namespace lockstep::isa
