/// D = A B + C of a warp: mma.sync and wmma.mma, and the transposition of movmatrix.
///
/// Rows are 32 lanes of 32 bits, a row pair of f64 32 lanes of 64 bits, in the order of the PTX
/// operands.  All lanes take part.  Sources are read before a destination is written: rows may
/// coincide.  Results depend on operands and form alone, on every level of x86-64.
///
/// Own choice where publications are silent: zero terms do not raise the largest exponent of a sum,
/// and a sum that is exactly zero is +0.  NaN is canonical: all ones but the sign (f64:
/// 0x7ff8000000000000).
#pragma once

#include <cstdint>

#include "models/isa/matrix/form.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {

/// Executes a form; precondition: is_supported(form).
using MatrixMultiply = void (*)(const MatrixForm& form, const std::uint32_t* const* a,
                                const std::uint32_t* const* b, const std::uint32_t* const* c,
                                std::uint32_t* const* d);
MatrixMultiply matrix_multiply(CpuLevel level);

/// movmatrix.sync.aligned.m8n8.trans.b16.
using MatrixTranspose = void (*)(const std::uint32_t* from, std::uint32_t* to);
MatrixTranspose matrix_transpose(CpuLevel level);

}  // namespace lockstep::isa
