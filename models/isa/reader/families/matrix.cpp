/// Products of matrices of a warp, and ldmatrix, stmatrix, movmatrix.
/// Source: PTX ISA 9.0, section 9.7.14 "Warp Level Matrix Multiply-Accumulate Instructions".
///
/// Simplified: forms of GPUs after sm_90 (.kind, block scales, .b8x16), and sparse ones, are
/// refused.
#include "models/isa/reader/families/matrix.hpp"

#include "models/isa/reader/families/matrix_names.hpp"
#include "models/isa/reader/families/wmma_access.hpp"

namespace lockstep::isa {
namespace {

/// Returns the member mask of an instruction that all lanes execute.
ir::Operand mask_of_all() {
  return ir::immediate_operand(-1);
}

Type register_type_of(const MatrixForm& form) {
  return form.a == MatrixElement::f64 ? Type::f64 : Type::b32;
}

}  // namespace

std::vector<ir::Operand> MatrixRegisterReader::registers(PtxInstruction& instruction,
                                                         const Argument& written, unsigned count,
                                                         Type type, bool destination,
                                                         const char* what) {
  std::vector<Argument> list = written.children;
  if (written.kind != Argument::Kind::vector) list = {written};
  if (list.size() != count)
    instruction.fail(written.at, std::string(what) + " of " + instruction.text() + " has " +
                                     std::to_string(count) + " registers, not " +
                                     std::to_string(list.size()));
  std::vector<ir::Operand> result;
  for (const Argument& element : list)
    result.push_back(destination ? operands_.destination(instruction, element, type)
                                 : operands_.source(instruction, element, type));
  return result;
}

void MatrixReader::append_registers(PtxInstruction& instruction, const Argument& written,
                                    unsigned count, Type type, bool destination, const char* what) {
  ir::Operation& operation = instruction.operation;
  const auto read = registers(instruction, written, count, type, destination, what);
  std::vector<ir::Operand>& to = destination ? operation.destinations : operation.sources;
  to.insert(to.end(), read.begin(), read.end());
}

/// Reads operands d, a, b, c of a form that exists.
void MatrixReader::product(PtxInstruction& instruction, MatrixForm form) {
  if (!exists(form))
    instruction.fail(instruction.at(), "there is no " + instruction.text(),
                     "see the shapes and types of PTX ISA 9.0, section 9.7.14");
  ir::Operation& operation = instruction.operation;
  const Type type = register_type_of(form);
  operation.opcode = Opcode::mma;
  operation.type = type;
  operation.sync = true;
  operation.immediate = pack(form);
  instruction.expect_arguments(4, 4);
  const MatrixRegisters count = registers_of(form);
  append_registers(instruction, instruction.argument(0), count.d, type, true, "d");
  append_registers(instruction, instruction.argument(1), count.a, type, false, "a");
  append_registers(instruction, instruction.argument(2), count.b, type, false, "b");
  append_registers(instruction, instruction.argument(3), count.c, type, false, "c");
  operation.sources.push_back(mask_of_all());
  code_.finish(instruction);
}

void MatrixReader::mma(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.has("sp") || modifiers.has("sp::ordered_metadata"))
    instruction.fail(instruction.at(), "sparse matrices are not modelled in this release",
                     "multiply the full matrix with mma.sync");
  if (!modifiers.take("sync") || !modifiers.take("aligned"))
    instruction.fail("needs .sync.aligned");
  MatrixForm form;
  matrix_names::take_shape(instruction, form);
  const bool a_column = matrix_names::take_layout(instruction);
  const bool b_column = matrix_names::take_layout(instruction);
  form.saturate = modifiers.take("satfinite");
  form.rounding = matrix_names::take_rounding(modifiers);
  form.operation = matrix_names::take_operation(modifiers);
  form.d = matrix_names::take_result(instruction);
  form.a = matrix_names::take_element(instruction);
  form.b = matrix_names::take_element(instruction);
  form.c = matrix_names::take_result(instruction);
  form.a_column = a_column;
  form.b_row = !b_column;
  product(instruction, form);
}

void MatrixReader::wmma(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("mma")) return wmma_product(instruction);
  WmmaAccess access(code_, operands_);
  if (modifiers.take("load")) return access.load(instruction);
  if (modifiers.take("store")) return access.store(instruction);
  instruction.fail("needs .load, .mma or .store");
}

void MatrixReader::wmma_product(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  MatrixForm form;
  form.wmma = true;
  form.operation = matrix_names::take_operation(modifiers);
  if (!modifiers.take("sync")) instruction.fail("needs .sync");
  modifiers.take("aligned");
  // A fragment holds its elements in the same places for every layout of the matrix.
  const bool a_column = matrix_names::take_layout(instruction);
  const bool b_column = matrix_names::take_layout(instruction);
  matrix_names::take_shape(instruction, form);
  form.saturate = modifiers.take("satfinite");
  form.rounding = matrix_names::take_rounding(modifiers);
  form.d = matrix_names::take_result(instruction);
  if (matrix_names::count_types(modifiers) > 1) {
    form.a = matrix_names::take_element(instruction);
    form.b = matrix_names::take_element(instruction);
  }
  form.c = matrix_names::take_result(instruction);
  if (bits_of(form.a) < 8 && (a_column || !b_column))
    instruction.fail("matrices of less than 8 bits are .row.col");
  product(instruction, form);
}

unsigned MatrixReader::matrices(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, unsigned> counts[] = {
      {"x1", 1}, {"x2", 2}, {"x4", 4}};
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("sync") || !modifiers.take("aligned"))
    instruction.fail("needs .sync.aligned");
  const bool ordinary = modifiers.take("m8n8");
  const unsigned count = modifiers.take_one(counts, 0U);
  if (!ordinary || !modifiers.take("b16"))
    instruction.fail("only .m8n8 of .b16 is supported in this release");
  if (count == 0) instruction.fail("needs a number of matrices: .x1, .x2 or .x4");
  ir::Operation& operation = instruction.operation;
  operation.type = Type::b32;
  operation.elements = static_cast<std::uint8_t>(count);
  operation.mode = modifiers.take("trans") ? 1 : 0;
  instruction.expect_arguments(2, 2);
  return count;
}

void MatrixReader::shared_address(PtxInstruction& instruction, const Argument& written) {
  ir::Operation& operation = instruction.operation;
  const bool shared =
      instruction.modifiers.take("shared") || instruction.modifiers.take("shared::cta");
  operation.space = shared ? Space::shared : Space::generic;
  operands_.address(instruction, written);
  if (shared || operation.sources[0].kind == Kind::shared_symbol) {
    operation.space = Space::shared;
    return;
  }
  ir::Operation window = instruction.plain(Opcode::cvta, Type::u64);
  window.space = Space::shared;
  window.mode = 1;
  const std::uint32_t address = code_.new_register(Type::b64);
  window.destinations.push_back(ir::register_operand(address));
  window.sources.push_back(operation.sources[0]);
  code_.append(std::move(window));
  operation.sources[0] = ir::register_operand(address);
  operation.space = Space::shared;
}

void MatrixReader::load_matrices(PtxInstruction& instruction) {
  const unsigned count = matrices(instruction);
  append_registers(instruction, instruction.argument(0), count, Type::b32, true, "d");
  shared_address(instruction, instruction.argument(1));
  code_.finish(instruction);
}

void MatrixReader::store_matrices(PtxInstruction& instruction) {
  const unsigned count = matrices(instruction);
  shared_address(instruction, instruction.argument(0));
  append_registers(instruction, instruction.argument(1), count, Type::b32, false, "the source");
  code_.finish(instruction);
}

void MatrixReader::transpose(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  for (const char* word : {"sync", "aligned", "m8n8", "trans", "b16"})
    if (!instruction.modifiers.take(word)) instruction.fail(std::string("needs .") + word);
  operation.type = Type::b32;
  operation.sync = true;
  instruction.expect_arguments(2, 2);
  append_registers(instruction, instruction.argument(0), 1, Type::b32, true, "d");
  append_registers(instruction, instruction.argument(1), 1, Type::b32, false, "a");
  operation.sources.push_back(mask_of_all());
  code_.finish(instruction);
}

}  // namespace lockstep::isa
