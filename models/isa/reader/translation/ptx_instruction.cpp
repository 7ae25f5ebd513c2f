#include "models/isa/reader/translation/ptx_instruction.hpp"

#include "models/isa/reader/advice/instruction_forms.hpp"
#include "models/isa/reader/names/symbols.hpp"

namespace lockstep::isa {

PtxInstruction::PtxInstruction(const std::string& name, const syntax::Statement& written)
    : file(name), statement(written), modifiers(written.text) {
  operation.line = written.at.line;
  operation.column = written.at.column;
}

void PtxInstruction::expect_arguments(std::size_t least, std::size_t most) const {
  if (arguments() >= least && arguments() <= most) return;
  reject_rest();  // explains first if the instruction is another one, with other operands
  fail("takes " + std::to_string(least) + (most == least ? "" : " to " + std::to_string(most)) +
       " operands, not " + std::to_string(arguments()));
}

void PtxInstruction::reject_rest() const {
  refuse_known();
  if (!modifiers.rest().empty())
    fail("modifier ." + modifiers.rest().front() + " is not supported here");
}

void PtxInstruction::refuse_known() const {
  for (const std::string& modifier : modifiers.rest())
    if (const std::string why = modifier_advice(modifier); !why.empty())
      fail(at(), text() + ": modifier ." + modifier + " is not supported", why);
}

/// The modifier that stands last is mostly meant to be the type.
void PtxInstruction::lacks_type() const {
  reject_rest();
  fail("needs a type");
}

ir::Operation PtxInstruction::plain(Opcode opcode, Type type) const {
  ir::Operation result;
  result.opcode = opcode;
  result.type = type;
  result.line = operation.line;
  result.column = operation.column;
  return result;
}

void PtxInstruction::fail(const std::string& what) const {
  fail(at(), text() + ": " + what);
}

void PtxInstruction::fail(syntax::Position place, const std::string& what) const {
  fail(place, what, instruction_advice(modifiers.base()));
}

void PtxInstruction::fail(syntax::Position place, const std::string& what,
                          const std::string& advice) const {
  isa::fail(file, place, what, advice);
}

void PtxInstruction::unsupported() const {
  fail(at(), "instruction " + text() + " is not supported");
}

}  // namespace lockstep::isa
