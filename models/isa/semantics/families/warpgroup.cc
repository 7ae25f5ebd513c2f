/// Part of a warp group's product that warp w computes: rows 16 w to 16 w + 15 of D = A B + D.
///
/// A warp executes its part where it issues the instruction: it reads shared memory and writes D
/// then.  A program that waits as PTX asks cannot tell: until the group's products are complete,
/// nobody may change the operands or look at D.
/// Source: PTX ISA 9.0, "wgmma.mma_async"; arithmetic: see matrix/warpgroup_form.hpp.
#include "models/isa/matrix/shared_operand.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/matrix/products.hpp"
#include "models/isa/semantics/matrix/transposition.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr unsigned most_d_registers = 128;

/// A matrix in shared memory.
struct SharedMatrix {
  const std::byte* shared;
  SharedOperand place;
  bool by_columns;
};

/// `width` rows from `first` on: word j of row i to to.word[j][i].
template <unsigned width>
void gather_rows(Words<width>& to, const SharedMatrix& from, unsigned first) {
  for (unsigned row = 0; row < width; ++row)
    for (unsigned half = 0; half < 2; ++half) {
      u32 words[piece_bytes / 4];
      __builtin_memcpy(words, from.shared + from.place.piece_of_row(first + row, half),
                       piece_bytes);
      for (unsigned j = 0; j < piece_bytes / 4; ++j) to.word[4 * half + j][row] = words[j];
    }
}
/// Two elements of 16 bits along k, each from a different piece, make a word.
template <unsigned width>
void gather_columns(Words<width>& to, const SharedMatrix& from, unsigned first) {
  for (unsigned part = 0; part < width; part += rows_of_piece)
    for (unsigned j = 0; j < bytes_along_k / 4; ++j) {
      u16 low[rows_of_piece], high[rows_of_piece];
      __builtin_memcpy(low, from.shared + from.place.piece_of_column(first + part, 2 * j),
                       piece_bytes);
      __builtin_memcpy(high, from.shared + from.place.piece_of_column(first + part, 2 * j + 1),
                       piece_bytes);
      for (unsigned i = 0; i < rows_of_piece; ++i)
        to.word[j][part + i] = low[i] | static_cast<u32>(high[i]) << 16;
    }
}
template <unsigned width>
void gather(Words<width>& to, const SharedMatrix& from, unsigned first) {
  from.by_columns ? gather_columns(to, from, first) : gather_rows(to, from, first);
}

/// Returns the signs of all elements in a word.
u32 signs_of(MatrixElement element) {
  switch (element) {
    case MatrixElement::f16:
    case MatrixElement::bf16:
      return 0x80008000U;
    case MatrixElement::tf32:
      return 0x80000000U;
    default:
      return 0x80808080U;
  }
}
template <unsigned width>
void negate(Words<width>& words, MatrixElement element) {
  const u32 signs = signs_of(element);
  for (u32(&word)[width] : words.word) LOCKSTEP_ACROSS(width) word[i] ^= signs;
}

/// Rows that a warp names: of D before and after, and of A.
struct NamedRows {
  u32* d[most_d_registers];
  const u32* c[most_d_registers];
  const u32* a[registers_of_a];
};

/// Rows of D, copied first if they are named in another order as a source than as a destination.
struct KeptRows {
  alignas(64) u32 row[most_d_registers][32];
};
void keep_rows(KeptRows& kept, NamedRows& rows, unsigned count) {
  bool in_place = true;
  for (unsigned i = 0; i < count; ++i) in_place &= rows.c[i] == rows.d[i];
  if (in_place) return;
  for (unsigned i = 0; i < count; ++i) {
    __builtin_memcpy(kept.row[i], rows.c[i], sizeof kept.row[i]);
    rows.c[i] = kept.row[i];
  }
}

struct Part {
  WarpgroupForm form;
  SharedMatrix a, b;
  unsigned warp;     ///< number of the warp in its group
  bool accumulates;  ///< true: D = A B + D; false: D = A B
};

void gather_a_of(Words<most_rows>& to, const Part& part, const NamedRows& rows) {
  if (part.form.a_in_registers)
    gather_a(to, rows.a, registers_of_a);
  else
    gather(to, part.a, most_rows * part.warp);
  if (part.form.a_negated) negate(to, part.form.a);
}

/// Multiplies eight columns of D; x.a holds A.
void multiply_columns(Product& x, const Part& part, const SplitRows& split, const MatrixForm& step,
                      const MatrixPlan& plan, const NamedRows& rows, unsigned block) {
  const bool halves = step.d == MatrixResult::f16;
  const unsigned count = halves ? 2 : 4, first = block * count;
  gather(x.b, part.b, most_columns * block);
  if (part.form.b_negated) negate(x.b, part.form.b);
  if (!part.accumulates)
    x.results = Results{};
  else if (halves)
    gather_half_c(x.results, rows.c + first, count);
  else
    gather_c(x.results, rows.c + first, count);
  if (plan.kind == Kind::fused)
    add_fused(x, split, step, plan, TermOrder::by_k);
  else
    compute(x, step, plan);
  if (halves)
    scatter_half_d(rows.d + first, x.results, count);
  else
    scatter_d(rows.d + first, x.results, count);
}

void multiply(const Part& part, NamedRows& rows) {
  const MatrixForm step = step_of(part.form);
  const MatrixPlan plan = plan_of(part.form);
  KeptRows kept;
  if (part.accumulates) keep_rows(kept, rows, registers_of_d(part.form));
  Product x;
  x.words = bytes_along_k / 4;
  gather_a_of(x.a, part, rows);
  SplitRows split;
  if (plan.kind == Kind::fused) split_rows(split, x, step, TermOrder::by_k);
  for (unsigned block = 0; block < part.form.n / most_columns; ++block)
    multiply_columns(x, part, split, step, plan, rows, block);
}

u64 descriptor(const WarpContext& context, Operand operand) {
  return *reinterpret_cast<const u64*>(context.row(operand));
}

/// Executes a wgmma, which reads D, A or its descriptor, the descriptor of B, whether D counts, and
/// the member mask.
void execute_wgmma(const Instruction& instruction, WarpContext& any) {
  const auto& context = static_cast<const WarpgroupContext&>(any);
  const OperandList& list = context.lists[instruction.offset];
  Part part;
  part.form = unpack_warpgroup_form(instruction.target);
  const unsigned count = registers_of_d(part.form);
  NamedRows rows;
  for (unsigned i = 0; i < count; ++i) {
    rows.d[i] = context.row(list.destinations[i]);
    rows.c[i] = context.row(list.sources[i]);
  }
  unsigned at = count;
  if (part.form.a_in_registers)
    for (const u32*& row : rows.a) row = context.row(list.sources[at++]);
  else
    part.a = {context.shared, shared_operand_of(descriptor(context, list.sources[at++])),
              part.form.a_by_columns};
  part.b = {context.shared, shared_operand_of(descriptor(context, list.sources[at++])),
            part.form.b_by_rows};
  part.accumulates = context.row(list.sources[at])[0] != 0;
  part.warp = context.warp_of_group;
  multiply(part, rows);
}

}  // namespace

Execute select_warpgroup(const SemanticKey& key) {
  return key.opcode == Opcode::wgmma ? &execute_wgmma : nullptr;
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
