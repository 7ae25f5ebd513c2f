/// Products of warp groups, and setmaxnreg.
///
/// A product is one operation: its destinations are d; its sources are d again, the registers of a
/// or its descriptor, the descriptor of b, scale-d as a number, and the member mask.
/// Source: PTX ISA 9.0, "wgmma.mma_async", "wgmma.fence", "wgmma.commit_group",
/// "wgmma.wait_group", "setmaxnreg"; modern-isa.md, sections 3.4 and 3.5.
///
/// Simplified: sparse matrices are refused.
#include "models/isa/reader/families/warpgroup.hpp"

#include <algorithm>
#include <cstdio>

#include "models/isa/reader/families/async_copy.hpp"
#include "models/isa/reader/families/matrix_names.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

void WarpgroupReader::wgmma(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  const bool multiplies = modifiers.take("mma_async");
  if (multiplies && modifiers.has("sp"))
    instruction.fail(instruction.at(), "sparse matrices are not modelled in this release",
                     "multiply the full matrix with wgmma.mma_async");
  const bool fences = modifiers.take("fence"), commits = modifiers.take("commit_group"),
             waits = modifiers.take("wait_group");
  if (!modifiers.take("sync") || !modifiers.take("aligned"))
    instruction.fail("needs .sync.aligned");
  if (multiplies) return product(instruction);
  if (fences) return step(instruction, ir::WarpgroupStep::fence);
  if (commits) return step(instruction, ir::WarpgroupStep::commit);
  if (waits) return step(instruction, ir::WarpgroupStep::wait);
  instruction.fail("needs .mma_async, .fence, .commit_group or .wait_group");
}

void WarpgroupReader::step(PtxInstruction& instruction, ir::WarpgroupStep step) {
  instruction.operation.opcode = Opcode::wgmma_step;
  instruction.operation.mode = static_cast<std::uint16_t>(step);
  constexpr std::uint32_t most = 7;
  const bool waits = step == ir::WarpgroupStep::wait;
  finish_group_step(code_, operands_, instruction, waits, "wgmma.wait_group", most);
}

WarpgroupForm WarpgroupReader::form_of(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  unsigned n = 0, k = 0;
  const auto is_shape = [&](const std::string& word) {
    char more = 0;
    return std::sscanf(word.c_str(), "m64n%3uk%3u%c", &n, &k, &more) == 2;
  };
  const auto shape = std::ranges::find_if(modifiers.rest(), is_shape);
  if (shape == modifiers.rest().end()) instruction.fail("needs a shape like .m64n128k16");
  modifiers.take(std::string(*shape));
  WarpgroupForm form;
  form.n = static_cast<std::uint16_t>(n);
  form.saturate = modifiers.take("satfinite");
  form.d = matrix_names::take_result(instruction);
  form.a = matrix_names::take_element(instruction);
  form.b = matrix_names::take_element(instruction);
  if (form.a == MatrixElement::b1 && (!modifiers.take("and") || !modifiers.take("popc")))
    instruction.fail("needs .and.popc");
  form.a_in_registers = instruction.argument(1).kind == Argument::Kind::vector;
  if (k != form.k()) form.n = 0;  // no shape has this k
  return form;
}

bool WarpgroupReader::flag(PtxInstruction& instruction, std::size_t argument, std::int32_t set,
                           std::int32_t not_set, const char* what) {
  const Argument& written = instruction.argument(argument);
  const auto value =
      static_cast<std::int32_t>(operands_.immediate(instruction, written, Type::s32).value);
  if (value != set && value != not_set)
    instruction.fail(written.at, std::string(what) + " is " + std::to_string(not_set) + " or " +
                                     std::to_string(set) + ", not " + std::to_string(value));
  return value == set;
}

void WarpgroupReader::signs_and_layouts(PtxInstruction& instruction, WarpgroupForm& form) {
  constexpr std::size_t first = 4;
  const bool has_signs = !is_integer(form.a);
  const bool has_layouts = form.a == MatrixElement::f16 || form.a == MatrixElement::bf16;
  const std::size_t layouts = !has_layouts ? 0 : form.a_in_registers ? 1 : 2;
  const std::size_t all = first + (has_signs ? 2 : 0) + layouts;
  instruction.expect_arguments(all, all);
  if (has_signs) {
    form.a_negated = flag(instruction, first, -1, 1, "imm-scale-a");
    form.b_negated = flag(instruction, first + 1, -1, 1, "imm-scale-b");
  }
  if (layouts == 2) form.a_by_columns = flag(instruction, all - 2, 1, 0, "imm-trans-a");
  if (layouts > 0) form.b_by_rows = flag(instruction, all - 1, 1, 0, "imm-trans-b");
}

ir::Operand WarpgroupReader::descriptor(PtxInstruction& instruction, const Argument& argument) {
  ir::Operand operand = operands_.source(instruction, argument, Type::b64);
  operand.type = Type::b64;
  return operand;
}

ir::Operand WarpgroupReader::scale_of_d(PtxInstruction& instruction, const Argument& argument) {
  const Symbol* symbol =
      argument.kind == Argument::Kind::name ? code_.lookup(argument.text) : nullptr;
  if (symbol == nullptr) {
    const std::int64_t value = operands_.immediate(instruction, argument, Type::s32).value;
    return ir::immediate_operand(value != 0 ? 1 : 0);
  }
  ir::Operation choose = instruction.plain(Opcode::selp, Type::b32);
  choose.guard = instruction.operation.guard;
  choose.sources = {ir::immediate_operand(1), ir::immediate_operand(0),
                    operands_.predicate(instruction, argument)};
  choose.destinations = {ir::register_operand(code_.new_register(Type::b32))};
  const ir::Operand result = choose.destinations[0];
  code_.append(std::move(choose));
  return result;
}

void WarpgroupReader::product(PtxInstruction& instruction) {
  WarpgroupForm form = form_of(instruction);
  signs_and_layouts(instruction, form);
  if (!exists(form))
    instruction.fail(instruction.at(), "there is no " + instruction.text(),
                     "see the shapes and types of PTX ISA 9.0, \"wgmma.mma_async\"");
  const ir::Operand scale = scale_of_d(instruction, instruction.argument(3));
  ir::Operation& operation = instruction.operation;
  operation.opcode = Opcode::wgmma;
  operation.type = Type::b32;
  operation.sync = true;
  operation.immediate = pack(form);
  const unsigned count = registers_of_d(form);
  operation.destinations =
      registers(instruction, instruction.argument(0), count, Type::b32, true, "d");
  operation.sources = registers(instruction, instruction.argument(0), count, Type::b32, false, "d");
  if (form.a_in_registers) {
    const auto a =
        registers(instruction, instruction.argument(1), registers_of_a, Type::b32, false, "a");
    operation.sources.insert(operation.sources.end(), a.begin(), a.end());
  } else {
    operation.sources.push_back(descriptor(instruction, instruction.argument(1)));
  }
  operation.sources.push_back(descriptor(instruction, instruction.argument(2)));
  operation.sources.push_back(scale);
  operation.sources.push_back(ir::immediate_operand(-1));  // all lanes
  code_.finish(instruction);
}

void WarpgroupReader::set_registers(PtxInstruction& instruction) {
  constexpr std::int64_t least = 24, most = 256, step = 8;
  Modifiers& modifiers = instruction.modifiers;
  const bool more = modifiers.take("inc");
  if (!more && !modifiers.take("dec")) instruction.fail("needs .inc or .dec");
  for (const char* word : {"sync", "aligned", "u32"})
    if (!modifiers.take(word)) instruction.fail(std::string("needs .") + word);
  instruction.expect_arguments(1, 1);
  const Argument& written = instruction.argument(0);
  const std::int64_t count = operands_.immediate(instruction, written, Type::u32).value;
  if (count < least || count > most || count % step != 0)
    instruction.fail(written.at, "a warp has 24 to 256 registers a thread, a multiple of 8, not " +
                                     std::to_string(count));
  ir::Operation& operation = instruction.operation;
  operation.opcode = Opcode::setmaxnreg;
  operation.mode = more ? 1 : 0;
  operation.immediate = static_cast<std::uint32_t>(count);
  code_.finish(instruction);
}

}  // namespace lockstep::isa
