/// cvt, cvta and isspacep.
/// Source: PTX ISA 8.x, "Data Movement and Conversion Instructions".
#include "models/isa/reader/families/conversions.hpp"

#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

void ConversionReader::convert(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("pack")) operation.opcode = Opcode::cvt_pack;
  if (modifiers.has("e4m3x2") || modifiers.has("e5m2x2")) {
    convert_fp8(instruction);
    return;
  }
  operation.rounding = modifiers.take_rounding();
  operation.flush = modifiers.take("ftz");
  operation.saturate = modifiers.take("sat");
  operation.relu = modifiers.take("relu");
  const bool tensor_float = modifiers.take("tf32");
  operation.type = tensor_float ? Type::b32 : modifiers.take_type();
  operation.source_type = modifiers.take_type();
  if (operation.source_type == Type::none) instruction.fail("conversion is not supported");
  const bool to_half = operation.type == Type::f16 || operation.type == Type::f16x2 ||
                       operation.type == Type::bf16 || operation.type == Type::bf16x2;
  if (to_half && operation.source_type == Type::f32 && modifiers.take("satfinite"))
    operation.mode = convert_finite;
  const std::size_t given = instruction.arguments();
  const bool pack = operation.opcode == Opcode::cvt_pack;
  const bool pair = operation.type == Type::f16x2 || operation.type == Type::bf16x2;
  instruction.expect_arguments(pack || pair ? 3 : 2, pack ? 4 : pair ? 3 : 2);
  operation.destinations.push_back(operands_.destination(instruction, instruction.argument(0),
                                                         pack ? Type::b32 : operation.type, !pack));
  for (std::size_t i = 1; i < given; ++i) {
    const Type type = pack && i == 3 ? Type::b32 : operation.source_type;
    operation.sources.push_back(operands_.source(instruction, instruction.argument(i), type, true));
  }
  code_.finish(instruction);
}

/// Pairs of 8-bit floats: from two f32 or a pair of f16, or to a pair of f16.
void ConversionReader::convert_fp8(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  operation.opcode = Opcode::cvt_fp8;
  operation.rounding = modifiers.take_rounding();
  const bool stays_finite = modifiers.take("satfinite");
  operation.relu = modifiers.take("relu");
  const bool to_fp8 = modifiers.rest().front() != "f16x2";
  const Fp8Format format = modifiers.take("e5m2x2") ? Fp8Format::e5m2 : Fp8Format::e4m3;
  modifiers.take("e4m3x2");
  operation.mode = static_cast<std::uint16_t>(format);
  const Type other = modifiers.take_type();
  const bool exists = to_fp8 ? stays_finite && (other == Type::f32 || other == Type::f16x2)
                             : !stays_finite && other == Type::f16x2;
  if (!exists || operation.rounding != Rounding::rn)
    instruction.fail("there is no such conversion");
  operation.type = to_fp8 ? Type::b16 : other;
  operation.source_type = to_fp8 ? other : Type::b16;
  const std::size_t sources = other == Type::f32 ? 2 : 1;
  instruction.expect_arguments(1 + sources, 1 + sources);
  operation.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), operation.type));
  for (std::size_t i = 1; i <= sources; ++i)
    operation.sources.push_back(
        operands_.source(instruction, instruction.argument(i), operation.source_type));
  code_.finish(instruction);
}

void ConversionReader::convert_address(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  static constexpr std::pair<std::string_view, Space> spaces[] = {
      {"global", Space::global},          {"shared", Space::shared},
      {"shared::cta", Space::shared},     {"local", Space::local},
      {"const", Space::constant},         {"param", Space::parameter},
      {"param::entry", Space::parameter}, {"shared::cluster", Space::shared_cluster}};
  const bool test = operation.opcode == Opcode::isspacep;
  operation.mode = modifiers.take("to") ? 1 : 0;
  operation.space = modifiers.take_one(spaces, Space::none);
  if (operation.space == Space::none) instruction.fail("state space is not supported");
  instruction.expect_arguments(2, 2);
  if (test) {
    operation.type = Type::b64;
    const Symbol* tested = code_.lookup(instruction.argument(1).text);
    if (tested != nullptr && bytes_of(tested->type) == 4) operation.type = Type::b32;
    operation.destinations.push_back(operands_.predicate(instruction, instruction.argument(0)));
  } else {
    operation.type = modifiers.take_type();
    if (operation.type == Type::none) instruction.lacks_type();
    operation.destinations.push_back(
        operands_.destination(instruction, instruction.argument(0), operation.type));
  }
  operation.sources.push_back(
      operands_.source(instruction, instruction.argument(1), operation.type));
  operation.sources.back().type = Type::none;
  code_.finish(instruction);
}

}  // namespace lockstep::isa
