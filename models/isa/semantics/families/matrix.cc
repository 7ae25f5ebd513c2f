/// Matrix multiply-accumulate and the transposition of 8 x 8 elements, by warp rows.
///
/// Source: PTX ISA 9.0, "mma.sync", "wmma.mma", "movmatrix"; arithmetic: see matrix/plan.hpp.
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/matrix/doubles.hpp"
#include "models/isa/semantics/matrix/entries.hpp"
#include "models/isa/semantics/matrix/products.hpp"
#include "models/isa/semantics/matrix/transposition.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

void multiply_quad_pairs(const MatrixForm& form, const u32* const* a, const u32* const* b,
                         const u32* const* c, u32* const* d) {
  const MatrixPlan plan = plan_of(form);
  Product x[4] = {};
  for (unsigned pair = 0; pair < 4; ++pair) {
    gather_quad_pair(x[pair].a, x[pair].b, form, pair, a, b);
    gather_quad_pair_c(x[pair].results, pair, form.c == MatrixResult::f16, c);
    x[pair].words = 2;
    compute_mixed(x[pair], form, plan);
  }
  for (unsigned pair = 0; pair < 4; ++pair)
    scatter_quad_pair_d(d, pair, form.d == MatrixResult::f16, x[pair].results);
}

/// Rows that a form m8 has not are zero.
void multiply_step(Product& x, const MatrixForm& form, const MatrixPlan& plan,
                   const MatrixRegisters& count, const u32* const* a, const u32* const* b,
                   const u32* const* c) {
  if (form.m == 8) x = Product{};
  x.words = 4 * count.b;
  gather_a(x.a, a, count.a);
  gather_b(x.b, b, count.b);
  if (form.c == MatrixResult::f16)
    gather_half_c(x.results, c, count.c);
  else
    gather_c(x.results, c, count.c);
  compute_mixed(x, form, plan);
}
LOCKSTEP_INLINE void scatter(u32* const* d, const MatrixForm& form, const MatrixRegisters& count,
                             const Product& x) {
  if (form.d == MatrixResult::f16)
    scatter_half_d(d, x.results, count.d);
  else
    scatter_d(d, x.results, count.d);
}

void multiply_wmma(const MatrixForm& form, const u32* const* a, const u32* const* b,
                   const u32* const* c, u32* const* d) {
  const MatrixSteps steps = steps_of(form);
  const MatrixPlan plan = plan_of(form);
  const MatrixRegisters count = registers_of(steps.mma);
  const u32* const* rows = steps.transposed ? b : a;
  const u32* const* columns = steps.transposed ? a : b;
  Product x[2];
  for (unsigned i = 0; i < steps.count; ++i) {
    const MatrixStep& step = steps.step[i];
    const unsigned row = steps.transposed ? step.b : step.a;
    const unsigned column = steps.transposed ? step.a : step.b;
    multiply_step(x[i], steps.mma, plan, count, rows + row, columns + column, c + step.c);
  }
  for (unsigned i = 0; i < steps.count; ++i) scatter(d + steps.step[i].d, steps.mma, count, x[i]);
}

}  // namespace

void multiply_matrices(const MatrixForm& form, const u32* const* a, const u32* const* b,
                       const u32* const* c, u32* const* d) {
  const MatrixPlan plan = plan_of(form);
  if (plan.kind == Kind::doubles) return multiply_doubles(form, a, b, c, d);
  if (form.wmma) return multiply_wmma(form, a, b, c, d);
  const bool quad_pairs = form.m == 8 && form.a == MatrixElement::f16;
  if (quad_pairs) return multiply_quad_pairs(form, a, b, c, d);
  const MatrixRegisters count = registers_of(form);
  Product x;
  multiply_step(x, form, plan, count, a, b, c);
  scatter(d, form, count, x);
}

void transpose_matrix(const u32* from, u32* to) {
  u32 rows[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4, t = lane % 4, part = g % 2 * 16;
    const u32 low = from[8 * t + g / 2] >> part & 0xffff;       // row 2 t, column g
    const u32 high = from[8 * t + 4 + g / 2] >> part & 0xffff;  // row 2 t + 1
    rows[lane] = low | high << 16;
  }
  __builtin_memcpy(to, rows, sizeof rows);
}

namespace {

/// Executes an mma: sources A, B, C and the member mask, destinations D, in the instruction or in
/// its list.
void execute_mma(const Instruction& instruction, WarpContext& context) {
  const MatrixForm form = unpack_form(instruction.target);
  const MatrixRegisters count = registers_of(form);
  const bool listed = (instruction.flags & flag_listed) != 0;
  const Operand* from = &instruction.source[0];
  const Operand* to = &instruction.destination[0];
  if (listed) {
    const OperandList& list = context.lists[instruction.offset];
    from = &list.sources[0];
    to = &list.destinations[0];
  }
  const u32* sources[24];
  u32* destinations[8];
  for (unsigned i = 0; i < count.a + count.b + count.c; ++i)
    sources[i] = row<u32>(context, from[i]);
  for (unsigned i = 0; i < count.d; ++i) destinations[i] = row<u32>(context, to[i]);
  multiply_matrices(form, sources, sources + count.a, sources + count.a + count.b, destinations);
}
void execute_transpose(const Instruction& instruction, WarpContext& context) {
  transpose_matrix(source<u32>(instruction, context, 0), destination<u32>(instruction, context));
}

}  // namespace

Execute select_matrix(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::mma:
      return &execute_mma;
    case Opcode::movmatrix:
      return &execute_transpose;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
