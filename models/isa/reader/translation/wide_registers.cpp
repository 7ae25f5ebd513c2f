/// Registers of 128 bits: each is two registers of 64 bits, which PTX can only move, load, store,
/// exchange, and compare and swap.
/// Source: PTX ISA 8.3, "mov", "ld", "st", "atom".
#include "models/isa/reader/translation/wide_registers.hpp"

namespace lockstep::isa {

using Argument = syntax::Operand;

namespace {

// No PTX name ends so.
constexpr const char* suffixes[] = {".low", ".high"};

}  // namespace

bool is_b128(const Translation& code, const syntax::Operand& operand) {
  if (operand.kind != Argument::Kind::name) return false;
  const Symbol* symbol = code.lookup(operand.text);
  return symbol != nullptr && symbol->kind == Symbol::Kind::b128;
}

std::vector<syntax::Operand> halves(const syntax::Operand& operand) {
  std::vector<Argument> result(2, operand);
  for (std::size_t h = 0; h < 2; ++h) result[h].text += suffixes[h];
  return result;
}

void declare_b128(Translation& code, const syntax::Declaration& d) {
  if (d.vector != 1)
    fail(code.file(), d.at, "vector registers are not supported", "declare their elements");
  const std::uint64_t count = d.is_range ? d.count : 1;
  if (count > 1'000'000)
    fail(code.file(), d.at, "more than a million registers", "declare what is used");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = d.is_range ? d.name + std::to_string(i) : d.name;
    Symbol whole;
    whole.kind = Symbol::Kind::b128;
    if (!code.add_name(name, whole))
      fail(code.file(), d.at, "register " + name + " is declared twice",
           "remove one, or open a scope with {");
    for (const char* suffix : suffixes) {
      Symbol half;
      half.type = Type::b64;
      half.index = code.new_register(half.type, name + suffix);
      code.add_name(name + suffix, half);
    }
  }
}

}  // namespace lockstep::isa
