/// Arithmetic, logic, comparison and selection.
/// Source: PTX ISA 8.x, sections 9.7.1 to 9.7.9.
#include "models/isa/reader/families/arithmetic.hpp"

#include "models/isa/opcodes/operand_types.hpp"
#include "models/isa/opcodes/table.hpp"
#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

namespace {

constexpr std::pair<std::string_view, Comparison> comparisons[] = {
    {"eq", Comparison::eq},   {"ne", Comparison::ne},   {"lt", Comparison::lt},
    {"le", Comparison::le},   {"gt", Comparison::gt},   {"ge", Comparison::ge},
    {"lo", Comparison::lo},   {"ls", Comparison::ls},   {"hi", Comparison::hi},
    {"hs", Comparison::hs},   {"equ", Comparison::equ}, {"neu", Comparison::neu},
    {"ltu", Comparison::ltu}, {"leu", Comparison::leu}, {"gtu", Comparison::gtu},
    {"geu", Comparison::geu}, {"num", Comparison::num}, {"nan", Comparison::nan},
};
constexpr std::pair<std::string_view, Combination> combinations[] = {
    {"and", Combination::logical_and},
    {"or", Combination::logical_or},
    {"xor", Combination::logical_xor},
};
constexpr std::pair<std::string_view, ir::MulPart> product_parts[] = {
    {"lo", ir::MulPart::lo}, {"hi", ir::MulPart::hi}, {"wide", ir::MulPart::wide}};
constexpr std::pair<std::string_view, std::uint16_t> permutes[] = {
    {"f4e", static_cast<std::uint16_t>(PermuteMode::f4e)},
    {"b4e", static_cast<std::uint16_t>(PermuteMode::b4e)},
    {"rc8", static_cast<std::uint16_t>(PermuteMode::rc8)},
    {"ecl", static_cast<std::uint16_t>(PermuteMode::ecl)},
    {"ecr", static_cast<std::uint16_t>(PermuteMode::ecr)},
    {"rc16", static_cast<std::uint16_t>(PermuteMode::rc16)}};
constexpr std::pair<std::string_view, std::uint16_t> class_tests[] = {
    {"finite", static_cast<std::uint16_t>(ClassTest::finite)},
    {"infinite", static_cast<std::uint16_t>(ClassTest::infinite)},
    {"number", static_cast<std::uint16_t>(ClassTest::number)},
    {"notanumber", static_cast<std::uint16_t>(ClassTest::notanumber)},
    {"normal", static_cast<std::uint16_t>(ClassTest::normal)},
    {"subnormal", static_cast<std::uint16_t>(ClassTest::subnormal)}};

/// Modifiers that not every instruction has, by opcode.
struct OwnModifiers {
  Opcode opcode;
  void (*take)(Modifiers&, ir::Operation&);
};

void take_part(Modifiers& modifiers, ir::Operation& operation) {
  operation.part = modifiers.take_one(product_parts, ir::MulPart::none);
}
void take_full(Modifiers& modifiers, ir::Operation& operation) {
  operation.full = modifiers.take("full");
}
void take_relu(Modifiers& modifiers, ir::Operation& operation) {
  operation.relu = modifiers.take("relu");
}
void take_nan_and_relu(Modifiers& modifiers, ir::Operation& operation) {
  operation.nan = modifiers.take("NaN");
  take_relu(modifiers, operation);
}
void take_wrap(Modifiers& modifiers, ir::Operation& operation) {
  operation.wrap = modifiers.take("wrap");
  modifiers.take("clamp");
}
void take_direction_and_wrap(Modifiers& modifiers, ir::Operation& operation) {
  operation.mode = static_cast<std::uint16_t>(modifiers.take("r") ? ShiftDirection::right
                                                                  : ShiftDirection::left);
  modifiers.take("l");
  take_wrap(modifiers, operation);
}
void take_shift_amount(Modifiers& modifiers, ir::Operation& operation) {
  operation.shift_amount = modifiers.take("shiftamt");
}
void take_permutation(Modifiers& modifiers, ir::Operation& operation) {
  operation.mode = modifiers.take_one(permutes, std::uint16_t{0});
}
void take_half(Modifiers& modifiers, ir::Operation& operation) {
  operation.mode = modifiers.take("hi") ? 1 : 0;
  modifiers.take("lo");
}
void take_class(Modifiers& modifiers, ir::Operation& operation) {
  operation.mode = modifiers.take_one(class_tests, std::uint16_t{0});
}

constexpr OwnModifiers own_modifiers[] = {
    {Opcode::mul, take_part},           {Opcode::mad, take_part},
    {Opcode::madc, take_part},          {Opcode::mul24, take_part},
    {Opcode::mad24, take_part},         {Opcode::div, take_full},
    {Opcode::min, take_nan_and_relu},   {Opcode::max, take_nan_and_relu},
    {Opcode::fma, take_relu},           {Opcode::shf, take_direction_and_wrap},
    {Opcode::bmsk, take_wrap},          {Opcode::szext, take_wrap},
    {Opcode::bfind, take_shift_amount}, {Opcode::prmt, take_permutation},
    {Opcode::dp2a, take_half},          {Opcode::testp, take_class},
};

void take_modifiers(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  operation.rounding = modifiers.take_rounding();
  operation.flush = modifiers.take("ftz");
  operation.saturate = modifiers.take("sat");
  operation.approximate = modifiers.take("approx");
  operation.carry_out = modifiers.take("cc");
  for (const OwnModifiers& own : own_modifiers)
    if (own.opcode == operation.opcode) own.take(modifiers, operation);
  operation.type = modifiers.take_type();
  if (operation.type == Type::none) instruction.lacks_type();
  if (has_trait(operation.opcode, has_two_types)) {
    operation.source_type = modifiers.take_type();
    if (operation.source_type == Type::none) operation.source_type = operation.type;
  }
}

}  // namespace

void ArithmeticReader::alu(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  take_modifiers(instruction);
  const std::string_view letters = facts_of(operation.opcode).operands;
  const bool chooses = operation.opcode == Opcode::min || operation.opcode == Opcode::max;
  if (chooses && instruction.arguments() == 4)
    instruction.fail(instruction.at(),
                     instruction.text() + ": of three values is not supported in this release",
                     "take it of two of them, then of the result and the third");
  instruction.expect_arguments(letters.size(), letters.size());
  if (operation.part == ir::MulPart::wide && doubled(operation.type) == Type::none)
    instruction.fail("no such instruction");
  for (std::size_t i = 0; i < letters.size(); ++i) alu_operand(instruction, i, letters[i]);
  const bool carry_in = has_trait(operation.opcode, reads_carry);
  if (operation.carry_out || carry_in) {
    const ir::Operand carry = ir::predicate_operand(code_.carry_register());
    if (operation.carry_out) operation.destinations.push_back(carry);
    if (carry_in) operation.sources.push_back(carry);
  }
  code_.finish(instruction);
}

void ArithmeticReader::alu_operand(PtxInstruction& instruction, std::size_t index, char letter) {
  ir::Operation& operation = instruction.operation;
  const Argument& written = instruction.argument(index);
  const Type type = operation.type == Type::pred ? Type::pred : type_of_letter(letter, operation);
  if (index == 0) {
    operation.destinations.push_back(type == Type::pred
                                         ? operands_.predicate(instruction, written)
                                         : operands_.destination(instruction, written, type));
  } else {
    operation.sources.push_back(type == Type::pred ? operands_.predicate(instruction, written)
                                                   : operands_.source(instruction, written, type));
  }
}

void ArithmeticReader::comparison(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  const bool to_predicate = operation.opcode == Opcode::setp;
  operation.comparison = modifiers.take_one(comparisons, Comparison::none);
  operation.combination = modifiers.take_one(combinations, Combination::none);
  operation.flush = modifiers.take("ftz");
  operation.type = modifiers.take_type();
  Type compared = operation.type;
  if (!to_predicate) compared = operation.source_type = modifiers.take_type();
  if (operation.comparison == Comparison::none || compared == Type::none)
    instruction.fail("needs a comparison and a type");
  const std::size_t operands = operation.combination == Combination::none ? 3 : 4;
  instruction.expect_arguments(operands, operands);
  const Argument& result = instruction.argument(0);
  if (!to_predicate) {
    operation.destinations.push_back(operands_.destination(instruction, result, operation.type));
  } else if (result.kind == Argument::Kind::pair) {
    for (const Argument& child : result.children)
      operation.destinations.push_back(operands_.predicate(instruction, child));
  } else {
    operation.destinations.push_back(operands_.predicate(instruction, result));
  }
  operation.sources.push_back(operands_.source(instruction, instruction.argument(1), compared));
  operation.sources.push_back(operands_.source(instruction, instruction.argument(2), compared));
  if (operands == 4)
    operation.sources.push_back(operands_.predicate(instruction, instruction.argument(3)));
  code_.finish(instruction);
}

void ArithmeticReader::selection(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.flush = instruction.modifiers.take("ftz");
  operation.type = instruction.modifiers.take_type();
  if (operation.type == Type::none) instruction.lacks_type();
  instruction.expect_arguments(4, 4);
  operation.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), operation.type));
  operation.sources.push_back(
      operands_.source(instruction, instruction.argument(1), operation.type));
  operation.sources.push_back(
      operands_.source(instruction, instruction.argument(2), operation.type));
  if (operation.opcode == Opcode::selp) {
    operation.sources.push_back(operands_.predicate(instruction, instruction.argument(3)));
  } else {
    operation.source_type = instruction.modifiers.take_type();
    if (operation.source_type == Type::none) instruction.fail("needs a second type");
    operation.sources.push_back(
        operands_.source(instruction, instruction.argument(3), operation.source_type));
  }
  code_.finish(instruction);
}

void ArithmeticReader::logic3(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.combination = instruction.modifiers.take_one(combinations, Combination::none);
  operation.type = instruction.modifiers.take_type();
  const bool combined = operation.combination != Combination::none;
  instruction.expect_arguments(combined ? 6 : 5, combined ? 6 : 5);
  const Argument& result = instruction.argument(0);
  if (combined) {
    if (result.kind != Argument::Kind::pair) instruction.fail("needs a destination d|p");
    operation.destinations.push_back(
        operands_.destination(instruction, result.children[0], operation.type));
    operation.destinations.push_back(operands_.predicate(instruction, result.children[1]));
  } else {
    operation.destinations.push_back(operands_.destination(instruction, result, operation.type));
  }
  for (std::size_t i = 1; i <= 3; ++i)
    operation.sources.push_back(operands_.source(instruction, instruction.argument(i), Type::b32));
  if (instruction.argument(4).kind != Argument::Kind::integer || instruction.argument(4).bits > 255)
    instruction.fail(instruction.argument(4).at, "table of lop3 must be a constant from 0 to 255",
                     "write the values of the function for (a, b, c) = 0xf0, 0xcc, 0xaa");
  operation.immediate = static_cast<std::uint32_t>(instruction.argument(4).bits);
  if (combined)
    operation.sources.push_back(operands_.predicate(instruction, instruction.argument(5)));
  code_.finish(instruction);
}

}  // namespace lockstep::isa
