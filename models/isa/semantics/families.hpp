/// The families of semantics, once per level: each returns the function that executes an operation,
/// or nullptr.
#pragma once

#include "models/isa/semantics/key.hpp"
#include "models/isa/semantics/word_moves.hpp"

#define LOCKSTEP_DECLARE_FAMILIES(level)                                               \
  namespace lockstep::isa::level {                                                     \
  Execute select_integer(const SemanticKey&);     /* add ... rem, min, max, carry */   \
  Execute select_multiply(const SemanticKey&);    /* mul, mad, mul24, dp4a, dp2a */    \
  Execute select_bits(const SemanticKey&);        /* logic, shifts, bit fields */      \
  Execute select_video(const SemanticKey&);       /* vadd ..., vadd2 ..., vadd4 ... */ \
  Execute select_float32(const SemanticKey&);     /* f32 arithmetic */                 \
  Execute select_float64(const SemanticKey&);     /* f64 arithmetic */                 \
  Execute select_half(const SemanticKey&);        /* f16, bf16, pairs of them */       \
  Execute select_approximate(const SemanticKey&); /* sin, cos, ex2, lg2, tanh, .. */   \
  Execute select_compare(const SemanticKey&);     /* set, setp, testp */               \
  Execute select_convert(const SemanticKey&);     /* cvt, cvt.pack */                  \
  Execute select_fp8(const SemanticKey&);         /* cvt of 8-bit floats */            \
  Execute select_texture(const SemanticKey&);     /* of tex, suld and sust */          \
  Execute select_move(const SemanticKey&);        /* mov, selp, slct, cvta, .. */      \
  Execute select_warp(const SemanticKey&);        /* shfl, vote, match, redux */       \
  Execute select_matrix(const SemanticKey&);      /* mma, movmatrix */                 \
  Execute select_warpgroup(const SemanticKey&);   /* wgmma */                          \
  Moves select_moves(const Instruction&);         /* loads and stores */               \
  }

LOCKSTEP_DECLARE_FAMILIES(v2)
LOCKSTEP_DECLARE_FAMILIES(v3)
LOCKSTEP_DECLARE_FAMILIES(v4)
