/// Arithmetic, logic, comparison, selection and moves.
/// Source: PTX ISA 8.x, sections 9.7.1 to 9.7.9.
#include "models/isa/reader/function_translator.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;
using Argument = syntax::Operand;

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
constexpr std::pair<std::string_view, ir::MulPart> parts[] = {
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

constexpr Type bits_type(Type type) {
  switch (bytes_of(type)) {
    case 2:
      return Type::b16;
    case 8:
      return Type::b64;
    default:
      return Type::b32;
  }
}

}  // namespace

/// How an opcode's operands are typed: one letter each, destination first.  t: the instruction's
/// type; w: the type of the result (twice as wide for .wide); b: 32 bits; s: the second type;
/// p: predicate.
struct AluForm {
  std::string_view name;
  Opcode opcode;
  std::string_view operands;
};

namespace {

constexpr AluForm forms[] = {
    {"add", Opcode::add, "ttt"},      {"addc", Opcode::addc, "ttt"},
    {"sub", Opcode::sub, "ttt"},      {"subc", Opcode::subc, "ttt"},
    {"mul", Opcode::mul, "wtt"},      {"mad", Opcode::mad, "wttw"},
    {"madc", Opcode::madc, "wttw"},   {"mul24", Opcode::mul24, "ttt"},
    {"mad24", Opcode::mad24, "tttt"}, {"sad", Opcode::sad, "tttt"},
    {"div", Opcode::div, "ttt"},      {"rem", Opcode::rem, "ttt"},
    {"abs", Opcode::abs, "tt"},       {"neg", Opcode::neg, "tt"},
    {"min", Opcode::min, "ttt"},      {"max", Opcode::max, "ttt"},
    {"and", Opcode::and_, "ttt"},     {"or", Opcode::or_, "ttt"},
    {"xor", Opcode::xor_, "ttt"},     {"not", Opcode::not_, "tt"},
    {"cnot", Opcode::cnot, "tt"},     {"shl", Opcode::shl, "ttb"},
    {"shr", Opcode::shr, "ttb"},      {"shf", Opcode::shf, "tttb"},
    {"popc", Opcode::popc, "bt"},     {"clz", Opcode::clz, "bt"},
    {"bfind", Opcode::bfind, "bt"},   {"fns", Opcode::fns, "tbbb"},
    {"brev", Opcode::brev, "tt"},     {"bfe", Opcode::bfe, "ttbb"},
    {"bfi", Opcode::bfi, "tttbb"},    {"szext", Opcode::szext, "ttb"},
    {"bmsk", Opcode::bmsk, "tbb"},    {"prmt", Opcode::prmt, "ttbb"},
    {"dp4a", Opcode::dp4a, "bbbb"},   {"dp2a", Opcode::dp2a, "bbbb"},
    {"fma", Opcode::fma, "tttt"},     {"rcp", Opcode::rcp, "tt"},
    {"sqrt", Opcode::sqrt, "tt"},     {"rsqrt", Opcode::rsqrt, "tt"},
    {"sin", Opcode::sin, "tt"},       {"cos", Opcode::cos, "tt"},
    {"lg2", Opcode::lg2, "tt"},       {"ex2", Opcode::ex2, "tt"},
    {"tanh", Opcode::tanh, "tt"},     {"copysign", Opcode::copysign, "ttt"},
    {"testp", Opcode::testp, "pt"},
};

}  // namespace

bool FunctionTranslator::arithmetic(Current& current) {
  const std::string& base = current.modifiers.base();
  if (base == "setp" || base == "set") {
    comparison(current);
  } else if (base == "selp" || base == "slct") {
    selection(current);
  } else if (base == "lop3") {
    logic3(current);
  } else if (base == "mov") {
    move(current);
  } else if (base == "cvt") {
    convert(current);
  } else if (base == "cvta" || base == "isspacep") {
    convert_address(current);
  } else if (packed_integers(current) || video(current)) {
    return true;
  } else {
    for (const AluForm& form : forms)
      if (form.name == base) {
        alu(current, form);
        return true;
      }
    return false;
  }
  return true;
}

void FunctionTranslator::alu(Current& current, const AluForm& form) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  operation.opcode = form.opcode;
  alu_modifiers(current);
  operation.type = modifiers.take_type();
  if (operation.type == Type::none) fail(current, "needs a type");
  if (form.opcode == Opcode::dp4a || form.opcode == Opcode::dp2a) {
    operation.source_type = modifiers.take_type();
    if (operation.source_type == Type::none) operation.source_type = operation.type;
  }
  expect_arguments(current, form.operands.size(), form.operands.size());
  const Type wide = operation.part == ir::MulPart::wide ? doubled(operation.type) : operation.type;
  if (wide == Type::none) fail(current, "no such instruction");
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const char letter = operation.type == Type::pred ? 'p' : form.operands[i];
    const Argument& written = argument(current, i);
    const Type type = letter == 'w' ? wide : letter == 'b' ? Type::b32 : operation.type;
    if (i == 0) {
      operation.destinations.push_back(letter == 'p' ? predicate(current, written)
                                                     : destination(current, written, type));
    } else {
      operation.sources.push_back(letter == 'p' ? predicate(current, written)
                                                : source(current, written, type));
    }
  }
  ir::Operand carry;
  carry.kind = Kind::predicate;
  if (operation.carry_out || form.opcode == Opcode::addc || form.opcode == Opcode::subc ||
      form.opcode == Opcode::madc)
    carry.index = carry_register();
  if (operation.carry_out) operation.destinations.push_back(carry);
  if (form.opcode == Opcode::addc || form.opcode == Opcode::subc || form.opcode == Opcode::madc)
    operation.sources.push_back(carry);
  finish(current);
}

void FunctionTranslator::alu_modifiers(Current& current) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  operation.rounding = modifiers.take_rounding();
  operation.flush = modifiers.take("ftz");
  operation.saturate = modifiers.take("sat");
  operation.approximate = modifiers.take("approx");
  operation.carry_out = modifiers.take("cc");
  switch (operation.opcode) {
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::madc:
    case Opcode::mul24:
    case Opcode::mad24:
      operation.part = modifiers.take_one(parts, ir::MulPart::none);
      break;
    case Opcode::div:
      operation.full = modifiers.take("full");
      break;
    case Opcode::min:
    case Opcode::max:
      operation.nan = modifiers.take("NaN");
      [[fallthrough]];
    case Opcode::fma:
      operation.relu = modifiers.take("relu");
      break;
    case Opcode::shf:
      operation.mode = static_cast<std::uint16_t>(modifiers.take("r") ? ShiftDirection::right
                                                                      : ShiftDirection::left);
      modifiers.take("l");
      [[fallthrough]];
    case Opcode::bmsk:
    case Opcode::szext:
      operation.wrap = modifiers.take("wrap");
      modifiers.take("clamp");
      break;
    case Opcode::bfind:
      operation.shift_amount = modifiers.take("shiftamt");
      break;
    case Opcode::prmt:
      operation.mode = modifiers.take_one(permutes, static_cast<std::uint16_t>(0));
      break;
    case Opcode::dp2a:
      operation.mode = modifiers.take("hi") ? 1 : 0;
      modifiers.take("lo");
      break;
    case Opcode::testp:
      operation.mode = modifiers.take_one(class_tests, static_cast<std::uint16_t>(0));
      break;
    default:
      break;
  }
}

void FunctionTranslator::comparison(Current& current) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  const bool to_predicate = modifiers.base() == "setp";
  operation.opcode = to_predicate ? Opcode::setp : Opcode::set;
  operation.comparison = modifiers.take_one(comparisons, Comparison::none);
  operation.combination = modifiers.take_one(combinations, Combination::none);
  operation.flush = modifiers.take("ftz");
  operation.type = modifiers.take_type();
  Type compared = operation.type;
  if (!to_predicate) compared = operation.source_type = modifiers.take_type();
  if (operation.comparison == Comparison::none || compared == Type::none)
    fail(current, "needs a comparison and a type");
  const std::size_t operands = operation.combination == Combination::none ? 3 : 4;
  expect_arguments(current, operands, operands);
  const Argument& result = argument(current, 0);
  if (!to_predicate) {
    operation.destinations.push_back(destination(current, result, operation.type));
  } else if (result.kind == Argument::Kind::pair) {
    for (const Argument& child : result.children)
      operation.destinations.push_back(predicate(current, child));
  } else {
    operation.destinations.push_back(predicate(current, result));
  }
  operation.sources.push_back(source(current, argument(current, 1), compared));
  operation.sources.push_back(source(current, argument(current, 2), compared));
  if (operands == 4) operation.sources.push_back(predicate(current, argument(current, 3)));
  finish(current);
}

void FunctionTranslator::selection(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = current.modifiers.base() == "selp" ? Opcode::selp : Opcode::slct;
  operation.flush = current.modifiers.take("ftz");
  operation.type = current.modifiers.take_type();
  if (operation.type == Type::none) fail(current, "needs a type");
  expect_arguments(current, 4, 4);
  operation.destinations.push_back(destination(current, argument(current, 0), operation.type));
  operation.sources.push_back(source(current, argument(current, 1), operation.type));
  operation.sources.push_back(source(current, argument(current, 2), operation.type));
  if (operation.opcode == Opcode::selp) {
    operation.sources.push_back(predicate(current, argument(current, 3)));
  } else {
    operation.source_type = current.modifiers.take_type();
    if (operation.source_type == Type::none) fail(current, "needs a second type");
    operation.sources.push_back(source(current, argument(current, 3), operation.source_type));
  }
  finish(current);
}

void FunctionTranslator::logic3(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::lop3;
  operation.combination = current.modifiers.take_one(combinations, Combination::none);
  operation.type = current.modifiers.take_type();
  const bool combined = operation.combination != Combination::none;
  expect_arguments(current, combined ? 6 : 5, combined ? 6 : 5);
  const Argument& result = argument(current, 0);
  if (combined) {
    if (result.kind != Argument::Kind::pair) fail(current, "needs a destination d|p");
    operation.destinations.push_back(destination(current, result.children[0], operation.type));
    operation.destinations.push_back(predicate(current, result.children[1]));
  } else {
    operation.destinations.push_back(destination(current, result, operation.type));
  }
  for (std::size_t i = 1; i <= 3; ++i)
    operation.sources.push_back(source(current, argument(current, i), Type::b32));
  if (argument(current, 4).kind != Argument::Kind::integer || argument(current, 4).bits > 255)
    fail(argument(current, 4).at, "table of lop3 must be a constant from 0 to 255");
  operation.immediate = static_cast<std::uint32_t>(argument(current, 4).bits);
  if (combined) operation.sources.push_back(predicate(current, argument(current, 5)));
  finish(current);
}

void FunctionTranslator::move(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::mov;
  if (current.modifiers.take("b128")) {
    move_b128(current);
    return;
  }
  operation.type = current.modifiers.take_type();
  if (operation.type == Type::none) fail(current, "needs a type");
  expect_arguments(current, 2, 2);
  const Argument& to = argument(current, 0);
  const Argument& from = argument(current, 1);
  const auto part_type = [&](std::size_t count) {
    const std::size_t bytes = count == 0 ? 0 : bytes_of(operation.type) / count;
    if (bytes * count != bytes_of(operation.type) || bytes == 0 || bytes > 4)
      fail(current, "vector does not match the type");
    return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : Type::b32;
  };
  if (operation.type == Type::pred) {
    operation.destinations.push_back(predicate(current, to));
    operation.sources.push_back(predicate(current, from));
  } else if (to.kind == Argument::Kind::vector) {
    operation.opcode = Opcode::mov_unpack;
    for (const Argument& child : to.children)
      operation.destinations.push_back(destination(current, child, part_type(to.children.size())));
    operation.sources.push_back(source(current, from, operation.type));
  } else if (from.kind == Argument::Kind::vector) {
    operation.opcode = Opcode::mov_pack;
    operation.destinations.push_back(destination(current, to, operation.type));
    for (const Argument& child : from.children)
      operation.sources.push_back(source(current, child, part_type(from.children.size())));
  } else {
    operation.destinations.push_back(destination(current, to, operation.type));
    const auto special = special_register_named(from.text);
    if (special && lookup(from.text) == nullptr) {
      check_width(current, from, type_of(*special), operation.type, false);
      ir::Operand read;
      read.kind = Kind::special;
      read.index = static_cast<std::uint32_t>(*special);
      operation.sources.push_back(read);
    } else {
      operation.sources.push_back(source(current, from, operation.type));
    }
  }
  finish(current);
}

}  // namespace lockstep::isa
