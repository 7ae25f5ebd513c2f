#include "jobs/capture/libraries/lt_product.hpp"

#include <limits>
#include <optional>
#include <string>

namespace lockstep::capture {
namespace {

/// Bits of an epilogue's number.
enum Epilogue : unsigned {
  nothing = 1,
  relu = 2,
  add_bias = 4,
  relu_gradient = 8,
  sum_columns = 16,
  gelu = 32,
  gelu_gradient = 64,
  with_aux = 128,
  sum_a = 256,
  sum_b = 512,
};

Status say(const LtProduct& p, const std::string& what, const char* advice) {
  lockstep_say_lacking(p.entry, what.c_str(), advice);
  return lacking;
}

/// Returns whether the kernels have the epilogue.
Status check_epilogue(const LtProduct& p) {
  const unsigned epilogue = p.description->epilogue;
  switch (epilogue) {
    case nothing:
    case relu:
    case add_bias:
    case relu | add_bias:
    case gelu:
    case gelu | add_bias:
    case gelu | with_aux:
    case gelu | with_aux | add_bias:
    case gelu_gradient | with_aux:
    case gelu_gradient | with_aux | sum_columns:
    case sum_a:
    case sum_b:
      return success;
    case relu | with_aux:
    case relu | with_aux | add_bias:
    case relu_gradient | with_aux:
    case relu_gradient | with_aux | sum_columns:
      return say(p, "epilogues with a bit mask of the ReLU are not there",
                 "use CUBLASLT_EPILOGUE_RELU or RELU_BIAS, and a kernel of your own for the mask");
    default:
      return invalid_value;
  }
}

struct Types {
  Element from{}, to{}, bias{}, aux{};
};
std::optional<Types> types_of(const LtProduct& p) {
  Types t;
  Element right{}, added{};
  const auto type = [](std::uint32_t number, Element& e) {
    return known_type(static_cast<int>(number), e);
  };
  if (!type(p.a->type, t.from) || !type(p.b->type, right) || !type(p.c->type, added) ||
      !type(p.d->type, t.to))
    return std::nullopt;
  if (t.from != right || added != t.to || (t.to != t.from && t.to != Element::f32))
    return std::nullopt;
  t.bias = t.aux = t.to;
  const MatmulDescription& d = *p.description;
  if (d.bias_type >= 0 && !known_type(d.bias_type, t.bias)) return std::nullopt;
  if (d.aux_type >= 0 && !known_type(d.aux_type, t.aux)) return std::nullopt;
  if (t.from == Element::f32 && d.compute == in_32f_fast_tf32) t.from = Element::tf32;
  return t;
}

bool fits_int(std::uint64_t number) {
  return number <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
}
bool is_turned(const MatrixLayout& layout, int operation) {
  return (operation != plain) != (layout.order == 1);
}
std::uint64_t rows_of(const MatrixLayout& l, int operation) {
  return operation == plain ? l.rows : l.columns;
}
std::uint64_t columns_of(const MatrixLayout& l, int operation) {
  return operation == plain ? l.columns : l.rows;
}
/// Returns whether rows and columns are contiguous without overlap.
bool is_valid(const MatrixLayout& l) {
  const std::uint64_t beside = l.order == 1 ? l.columns : l.rows;
  return fits_int(l.rows) && fits_int(l.columns) && l.distance >= 0 && l.batch >= 0 &&
         fits_int(static_cast<std::uint64_t>(l.distance)) &&
         static_cast<std::uint64_t>(l.distance) >= beside;
}
/// Returns whether the sizes fit together.
bool match(const LtProduct& p) {
  const MatmulDescription& d = *p.description;
  return rows_of(*p.a, d.a_operation) == p.d->rows &&
         columns_of(*p.b, d.b_operation) == p.d->columns &&
         columns_of(*p.a, d.a_operation) == rows_of(*p.b, d.b_operation) &&
         p.c->rows == p.d->rows && p.c->columns == p.d->columns && p.a->batch == p.d->batch &&
         p.b->batch == p.d->batch && p.c->batch == p.d->batch;
}

Status check_scalars(const LtProduct& p) {
  const MatmulDescription& d = *p.description;
  if (!sums_in_f32(d.compute) || d.scale_type != 0)
    return say(p, "sums and scalars are in f32 only", "use CUBLAS_COMPUTE_32F and CUDA_R_32F");
  if (d.pointer_mode != 0 && d.pointer_mode != 1)
    return say(p, "vectors of scalars are not there", "use one alpha and one beta");
  return success;
}

Gemm gemm_of(const LtProduct& p, const Types& types, const LtMemory& memory) {
  const MatmulDescription& d = *p.description;
  Gemm g;
  g.a = memory.a;
  g.b = memory.b;
  g.c = memory.c;
  g.d = memory.d;
  g.a_stride = p.a->stride;
  g.b_stride = p.b->stride;
  g.c_stride = p.c->stride;
  g.d_stride = p.d->stride;
  g.m = static_cast<int>(p.d->rows);
  g.n = static_cast<int>(p.d->columns);
  g.k = static_cast<int>(columns_of(*p.a, d.a_operation));
  g.a_column = static_cast<int>(p.a->distance);
  g.b_column = static_cast<int>(p.b->distance);
  g.c_column = static_cast<int>(p.c->distance);
  g.d_column = static_cast<int>(p.d->distance);
  g.a_turned = is_turned(*p.a, d.a_operation);
  g.b_turned = is_turned(*p.b, d.b_operation);
  g.epilogue = static_cast<int>(d.epilogue);
  g.bias = d.bias;
  g.bias_stride = d.bias_stride;
  g.bias_kind = static_cast<int>(types.bias);
  g.aux = d.aux;
  g.aux_column = static_cast<int>(d.aux_column);
  g.aux_stride = d.aux_stride;
  g.aux_kind = static_cast<int>(types.aux);
  if (d.pointer_mode == 1) {
    g.alpha_at = static_cast<const float*>(memory.alpha);
    g.beta_at = static_cast<const float*>(memory.beta);
  } else {
    g.alpha = *static_cast<const float*>(memory.alpha);
    g.beta = *static_cast<const float*>(memory.beta);
  }
  return g;
}

/// Returns the gradient of a bias: sums of a matrix in memory, one for each row (of A and D) or
/// column (of B).
BiasGradient gradient_of(const Gemm& g, const Types& types) {
  const unsigned epilogue = static_cast<unsigned>(g.epilogue);
  BiasGradient s;
  s.to = const_cast<void*>(g.bias);
  s.to_stride = g.bias_stride;
  s.to_kind = g.bias_kind;
  const auto sum = [&](const void* from, std::int64_t stride, Element kind, int sums, int addends,
                       int column, bool along_columns) {
    s.from = from;
    s.from_stride = stride;
    s.from_kind = static_cast<int>(kind == Element::tf32 ? Element::f32 : kind);
    s.sums = sums;
    s.addends = addends;
    s.across = along_columns ? column : 1;
    s.along = along_columns ? 1 : column;
  };
  if (epilogue & sum_a)
    sum(g.a, g.a_stride, types.from, g.m, g.k, g.a_column, g.a_turned != 0);
  else if (epilogue & sum_b)
    sum(g.b, g.b_stride, types.from, g.n, g.k, g.b_column, g.b_turned == 0);
  else
    sum(g.d, g.d_stride, types.to, g.m, g.n, g.d_column, false);
  return s;
}

bool has_memory(const LtProduct& p, const LtMemory& memory) {
  const MatmulDescription& d = *p.description;
  if (!memory.alpha || !memory.beta || !memory.a || !memory.b || !memory.d) return false;
  if (!memory.c && (d.pointer_mode == 1 || *static_cast<const float*>(memory.beta) != 0))
    return false;
  if ((d.epilogue & (add_bias | sum_columns | sum_a | sum_b)) && !d.bias) return false;
  return !(d.epilogue & with_aux) || d.aux;
}

}  // namespace

Status check(const LtProduct& p) {
  if (!p.description || !p.a || !p.b || !p.c || !p.d) return invalid_value;
  const std::uint32_t of_layouts = p.a->lacking | p.b->lacking | p.c->lacking | p.d->lacking;
  if (p.description->lacking || of_layouts) {
    const std::uint32_t number = p.description->lacking ? p.description->lacking : of_layouts;
    return say(p,
               (p.description->lacking ? "CUBLASLT_MATMUL_DESC attribute "
                                       : "CUBLASLT_MATRIX_LAYOUT attribute ") +
                   std::to_string(number - 1) + " is not there",
               "leave it as it is by default");
  }
  if (const Status status = check_epilogue(p); status != success) return status;
  if (const Status status = check_scalars(p); status != success) return status;
  if (p.description->c_operation != plain || p.c->order != 0 || p.d->order != 0 ||
      static_cast<std::uint32_t>(p.a->order) > 1 || static_cast<std::uint32_t>(p.b->order) > 1)
    return say(p, "this order of a matrix is not there",
               "use CUBLASLT_ORDER_COL for all, or CUBLASLT_ORDER_ROW for A or B");
  for (const MatrixLayout* const layout : {p.a, p.b, p.c, p.d})
    if (!is_valid(*layout)) return invalid_value;
  if (!match(p)) return invalid_value;
  if (!types_of(p))
    return say(p, "these types of A, B, C, D or the epilogue are not there",
               "use f32, f16 or bf16 for A and B, and the same or f32 for C and D");
  const MatmulDescription& d = *p.description;
  const bool aux_fits = d.aux_column >= 0 && fits_int(static_cast<std::uint64_t>(d.aux_column)) &&
                        static_cast<std::uint64_t>(d.aux_column) >= p.d->rows;
  return !(d.epilogue & with_aux) || aux_fits ? success : invalid_value;
}

Status multiply(const LtProduct& p, const LtMemory& memory, void* stream) {
  if (const Status status = check(p); status != success) return status;
  if (!has_memory(p, memory)) return invalid_value;
  const Types types = *types_of(p);
  const Gemm g = gemm_of(p, types, memory);
  if (!lockstep_launch_gemm(&g, types.from, types.to, p.d->batch, stream)) return failed;
  if (!(p.description->epilogue & (sum_columns | sum_a | sum_b))) return success;
  const BiasGradient gradient = gradient_of(g, types);
  return lockstep_launch_bias_gradient(&gradient, p.d->batch, stream) ? success : failed;
}

}  // namespace lockstep::capture
