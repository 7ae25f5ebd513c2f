#include "models/isa/opcodes/operand_types.hpp"

#include <algorithm>

#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {
namespace {

char letter_of(const ir::Operation& operation, std::size_t source) {
  const std::string_view letters = facts_of(operation.opcode).operands;
  return letters[std::min(source + 1, letters.size() - 1)];
}

}  // namespace

Type type_of_letter(char letter, const ir::Operation& operation) {
  switch (letter) {
    case 't':
    case 'T':
      return operation.type;
    case 'w':
    case 'W':
      return operation.part == ir::MulPart::wide ? doubled(operation.type) : operation.type;
    case 'd':
    case 'D':
      return doubled(operation.type);
    case 's':
    case 'S':
      return operation.source_type;
    case 'b':
    case 'B':
      return Type::b32;
    case 'a':
      return Type::b64;
    case 'p':
      return Type::pred;
    default:
      return Type::none;
  }
}

Type source_lane_type(const ir::Operation& operation, std::size_t source) {
  const ir::Operand& operand = operation.sources[source];
  if (operand.type != Type::none && operand.kind != ir::Operand::Kind::parameter)
    return operand.type;
  return type_of_letter(letter_of(operation, source), operation);
}

bool accepts_constant(const ir::Operation& operation, std::size_t source) {
  const char letter = letter_of(operation, source);
  return letter >= 'A' && letter <= 'Z';
}

Type constant_type(const ir::Operation& operation, std::size_t source) {
  return accepts_constant(operation, source)
             ? type_of_letter(letter_of(operation, source), operation)
             : Type::none;
}

}  // namespace lockstep::isa
