/// Registers of 128 bits: each is two of 64 bits, which PTX can only move, load, store, exchange,
/// and compare and swap.
/// Source: PTX ISA 8.3, "mov", "ld", "st", "atom".
#include "models/isa/reader/function_translator.hpp"

namespace lockstep::isa {

using Argument = syntax::Operand;

namespace {

// No PTX name ends so.
constexpr const char* suffixes[] = {".low", ".high"};

}  // namespace

bool FunctionTranslator::is_b128(const syntax::Operand& operand) const {
  if (operand.kind != Argument::Kind::name) return false;
  const Symbol* symbol = lookup(operand.text);
  return symbol != nullptr && symbol->kind == Symbol::Kind::b128;
}

std::vector<syntax::Operand> FunctionTranslator::halves(const syntax::Operand& operand) const {
  std::vector<Argument> result(2, operand);
  for (std::size_t h = 0; h < 2; ++h) result[h].text += suffixes[h];
  return result;
}

void FunctionTranslator::declare_b128(const syntax::Declaration& d) {
  if (d.vector != 1) fail(d.at, "vector registers are not supported", "declare their elements");
  const std::uint64_t count = d.is_range ? d.count : 1;
  if (count > 1'000'000) fail(d.at, "more than a million registers");
  NameTable& names = scopes_.back();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = d.is_range ? d.name + std::to_string(i) : d.name;
    Symbol whole;
    whole.kind = Symbol::Kind::b128;
    if (!names.emplace(name, whole).second) fail(d.at, "register " + name + " is declared twice");
    for (const char* suffix : suffixes) {
      Symbol half;
      half.type = Type::b64;
      half.index = new_register(half.type, name + suffix);
      names.emplace(name + suffix, half);
    }
  }
}

void FunctionTranslator::move_b128(Current& current) {
  expect_arguments(current, 2, 2);
  if (!current.modifiers.rest().empty()) fail(current, "modifier is not supported here");
  const auto pair = [&](const Argument& written) {
    if (is_b128(written)) return halves(written);
    if (written.kind != Argument::Kind::vector || written.children.size() != 2)
      fail(written.at, "mov.b128 needs a register of 128 bits or a pair {low, high} of 64");
    return written.children;
  };
  const std::vector<Argument> to = pair(argument(current, 0)), from = pair(argument(current, 1));
  // Through registers of its own: mov {a, b}, {b, a} exchanges them.
  std::vector<ir::Operation> second;
  for (std::size_t h = 0; h < 2; ++h) {
    ir::Operation in = plain(current, Opcode::mov, Type::b64), out = in;
    out.guard = current.operation.guard;
    ir::Operand held;
    held.kind = ir::Operand::Kind::reg;
    held.index = new_register(Type::b64, "%half");
    in.sources.push_back(source(current, from[h], Type::b64));
    in.destinations.push_back(held);
    out.sources.push_back(held);
    out.destinations.push_back(destination(current, to[h], Type::b64));
    append(std::move(in));
    second.push_back(std::move(out));
  }
  for (ir::Operation& out : second) append(std::move(out));
}

}  // namespace lockstep::isa
