/// Plans by which the tensor cores of a generation sum the products of a form.
///
/// Sources: MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004; Fasi et al.,
/// "Numerical behavior of NVIDIA tensor cores", 2021.  Forms that a generation's compiler replaces
/// by other instructions follow the code of ptxas 13.0.
///
/// `fused`: the products along k are cut into groups.  The terms of a sum are the products of a
/// group and the sum of the groups before.  Each term is truncated to a multiple of 2^(e -
/// fraction), where e is the largest exponent of a term that is not zero; exponents of factors are
/// added and not normalised.  The exact sum is rounded: to f32 towards zero, to f16 to nearest.
#pragma once

#include "models/isa/matrix/form.hpp"

namespace lockstep::isa {

struct MatrixPlan {
  enum class Kind : std::uint8_t {
    fused,
    /// fp8 on Hopper: like f16, with first the elements in the low halves of all registers, then
    /// those in the high halves; C is added at the end.
    fused_halves,
    scalar,   ///< m8n8k4 of f16 after Turing: multiplications and additions of f32
    doubles,  ///< one fused multiply-add after the other along k, each rounded
    integers,
    bits,
  };
  Kind kind = Kind::fused;
  unsigned fraction = 0;      ///< bits kept below the largest exponent
  unsigned group = 0;         ///< products in one sum
  bool short_result = false;  ///< an f32 result keeps 13 bits of its fraction
};

/// Precondition: is_supported(form).
MatrixPlan plan_of(const MatrixForm& form);

}  // namespace lockstep::isa
