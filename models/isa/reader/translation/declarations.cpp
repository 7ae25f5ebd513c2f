/// Parameters, registers and variables of a function.
#include "core/memory/round_up.hpp"
#include "models/isa/reader/translation/translation.hpp"
#include "models/isa/reader/translation/wide_registers.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {

std::uint32_t Translation::new_register(Type type, const std::string& name) {
  function_.registers.push_back({name, type});
  return static_cast<std::uint32_t>(function_.registers.size() - 1);
}

std::uint32_t Translation::add_local(const ir::Variable& variable) {
  function_.local.push_back(variable);
  ir::Variable& placed = function_.local.back();
  placed.offset = round_up(function_.local_bytes, placed.alignment);
  function_.local_bytes = placed.offset + placed.bytes;
  return static_cast<std::uint32_t>(function_.local.size() - 1);
}

/// Returns the register of a parameter or result; for a structure, the register with its address.
ir::Operand Translation::formal(const syntax::Declaration& declaration, Symbol& symbol) {
  const Type type = declaration.is_array ? Type::b32 : symbol.type;
  symbol.kind = declaration.is_array         ? Symbol::Kind::parameter_pointer
                : declaration.space == "reg" ? Symbol::Kind::reg
                                             : Symbol::Kind::parameter;
  symbol.index = new_register(type, declaration.name);
  ir::Operand operand;
  operand.kind = type == Type::pred ? ir::Operand::Kind::predicate : ir::Operand::Kind::reg;
  operand.type = type;
  operand.index = symbol.index;
  return operand;
}

namespace {

/// Returns the type in which the host program gives a kernel parameter.  nvcc declares a scalar
/// that is __grid_constant__ as bytes with the scalar's alignment: its bits are given as an
/// integer.
Type argument_type(const syntax::Declaration& d, const ir::Variable& variable, Type type) {
  if (!d.is_array && d.vector <= 1) return type;
  if (type != Type::b8 || variable.bytes != variable.alignment) return Type::b8;
  return variable.bytes == 4 ? Type::b32 : variable.bytes == 8 ? Type::b64 : Type::b8;
}

}  // namespace

void Translation::declare_kernel_parameter(const syntax::Declaration& d, Symbol& symbol) {
  const ir::Variable v =
      d.space == "reg" ? ir::Variable{d.name, 0, 1, 0} : variable_of(module_.file, d);
  const std::uint64_t offset = round_up(result_.parameter_bytes, v.alignment);
  symbol.kind = Symbol::Kind::kernel_parameter;
  symbol.value = offset;
  result_.parameters.push_back({d.name, argument_type(d, v, symbol.type),
                                static_cast<std::uint32_t>(offset),
                                static_cast<std::uint32_t>(v.bytes)});
  const std::uint64_t end = offset + v.bytes;
  if (end > 32764)
    fail(d.at, "parameters of " + kernel_title(source_.name) + " exceed 32,764 bytes",
         "pass a pointer to a buffer");
  result_.parameter_bytes = static_cast<std::uint32_t>(end);
}

void Translation::declare_parameters() {
  const auto symbol_of = [&](const syntax::Declaration& d) {
    Symbol symbol;
    symbol.type = type_named(d.type);
    symbol.bytes = d.space == "reg" ? 0 : variable_of(module_.file, d).bytes;
    return symbol;
  };
  NameTable& names = scopes_.back();
  for (const syntax::Declaration& d : source_.parameters) {
    Symbol symbol = symbol_of(d);
    if (source_.is_entry) {
      declare_kernel_parameter(d, symbol);
    } else {
      function_.inputs.push_back(formal(d, symbol));
    }
    names[d.name] = symbol;
  }
  for (const syntax::Declaration& d : source_.results) {
    // A structure is returned through memory of the caller: its address is one more input.
    Symbol symbol = symbol_of(d);
    (d.is_array ? function_.inputs : function_.results).push_back(formal(d, symbol));
    names[d.name] = symbol;
  }
}

void Translation::declare_registers(const syntax::Declaration& d) {
  if (d.type == "b128") {
    declare_b128(*this, d);
    return;
  }
  const Type type = type_named(d.type);
  if (type == Type::none)
    fail(d.at, "register type ." + d.type + " is not supported",
         "registers are .pred, or .b, .u, .s and .f with 16, 32 or 64 bits");
  if (d.vector != 1) fail(d.at, "vector registers are not supported", "declare their elements");
  Symbol symbol;
  symbol.kind = Symbol::Kind::reg;
  symbol.type = type;
  const auto add = [&](const std::string& name) {
    symbol.index = new_register(type, name);
    if (!scopes_.back().emplace(name, symbol).second)
      fail(d.at, "register " + name + " is declared twice", "remove one, or open a scope with {");
  };
  if (!d.is_range) {
    add(d.name);
    return;
  }
  if (d.count > 1'000'000) fail(d.at, "more than a million registers", "declare what is used");
  for (std::uint64_t i = 0; i < d.count; ++i) add(d.name + std::to_string(i));
}

/// Returns a .global or .const variable of this function, whose name may hide one of the module's.
Symbol Translation::hidden_variable(const syntax::Declaration& d) {
  const auto hidden = module_.names.find(d.name);
  const bool hides = hidden != module_.names.end();
  const Symbol kept = hides ? hidden->second : Symbol{};
  d.space == "global" ? declare_global(module_, d) : declare_constant(module_, d);
  initialise(module_, d);
  const Symbol symbol = module_.names[d.name];
  if (hides) {
    module_.names[d.name] = kept;
  } else {
    module_.names.erase(d.name);
  }
  return symbol;
}

void Translation::declare(const syntax::Declaration& d) {
  if (d.space == "reg") {
    declare_registers(d);
    return;
  }
  Symbol symbol;
  symbol.type = type_named(d.type);
  const ir::Variable v = variable_of(module_.file, d);
  symbol.bytes = v.bytes;
  if (d.space == "param") {
    // Parameters of a following call: a scalar is a register, a structure is memory of this thread.
    if (d.is_array) {
      symbol.kind = Symbol::Kind::parameter_bytes;
      symbol.index = add_local(v);
    } else {
      symbol.kind = Symbol::Kind::parameter;
      symbol.index = new_register(symbol.type, d.name);
    }
  } else if (d.space == "local") {
    symbol.kind = Symbol::Kind::local;
    symbol.index = add_local(v);
  } else if (d.space == "shared") {
    symbol.kind = Symbol::Kind::shared;
    symbol.index = static_cast<std::uint32_t>(module_.shared.size());
    module_.shared.push_back(v);
  } else {
    symbol = hidden_variable(d);
  }
  scopes_.back()[d.name] = symbol;
}

}  // namespace lockstep::isa
