/// Semantics: what an instruction does to the 32 lanes of a warp, in one function per opcode and
/// type.
///
/// `bind_semantics` chooses the function for an operation and writes the fields it reads.  The
/// functions exist once per x86-64 level (v2, v3, v4), with the same bits; the level of this
/// computer is found once.  Source: PTX ISA 8.x, section "Instruction Set".
///
/// Operands (all categories that have an `execute`: arithmetic and shuffle_vote)
/// - Sources that are no predicates go, in PTX order, to Instruction::source[0], [1], ...; sources
///   of kind `predicate` go, in order, to predicate_source[0], [1], with flag_source_negated_0/1
///   for "!p".  An absent predicate source (no_predicate) reads as true; false is absent + negated.
/// - Destinations likewise: predicates to predicate_destination[0], [1] (a "_" in a p|q pair gives
///   no_predicate there), others to destination[0], [1], ...; a discarded value goes to a row of
///   Operand::scratch.
/// - 64-bit operands take two rows (32 x 64-bit lanes); 8- and 16-bit values are zero-extended in
///   32-bit lanes, signed ones too.  Shift amounts, bit positions and lengths are 32-bit rows even
///   in 64-bit instructions; results of popc, clz, bfind are 32-bit rows.
/// - A 64-bit destination may coincide with a 64-bit source, but not overlap it by one row only.
///   Operands of different width may overlap in any way.
/// - Predicates: a destination's lanes outside `active` keep their bits.
///
/// Carry: a function has one predicate register as condition code ("%cc").  The reader appends it
/// as last destination of add.cc, sub.cc, mad.cc, ... and as last source of addc, subc, madc, so
/// that liveness sees it; the rules above then put it in predicate_destination[0] and
/// predicate_source[0].  sub.cc and subc.cc set it where nothing was borrowed.
///
/// By opcode (fields of ir::Operation)
/// - mul, mad, madc, mul24, mad24: `part`; type is that of the sources (mul.wide.s32 -> s32).
/// - lop3: `immediate` is the table; with `combination` (lop3.BOOL) d|p and a predicate source.
/// - shf: `mode` ShiftDirection; `wrap`.  bmsk, szext: `wrap` for .wrap.  prmt: `mode` PermuteMode.
/// - dp4a, dp2a: type is the type of a, source_type that of b; dp2a `mode` 0 .lo, 1 .hi.
/// - video, video2, video4: `immediate` holds video_bits; sources a, b and, where there is one, c;
///   `mode` video_multiply_add for vmad.  add.u16x2 and the like are video2.
/// - cvt_fp8: `mode` Fp8Format; from f16x2 (one source) or f32 (two) to b16, or from b16 to f16x2.
/// - set, cvt, slct: type is the destination's, source_type the source's.
/// - cvt: when a register is declared wider than the type, that operand's `type` holds the declared
///   type (cvt.s8.s32 into a .b32 register: destinations[0].type == b32).  cvt.rn.f16x2.f32:
///   type f16x2, source_type f32, two sources.  tf32 results: type b32.  `mode` convert_finite.
///   cvt_pack: type is the packed element type (u8 ... s16), source_type s32 or u32, two or three
///   sources.
/// - mov of one register, symbol or immediate: a row.  mov of a special register: sources[0].kind
///   is `special`, no source row; `type` says the width.  Special registers occur in mov only.
/// - mov_pack: type is the whole (b32, b64), sources are the parts, lowest first.  mov_unpack: type
///   is the whole, destinations are the parts; unwanted ones are scratch rows or invalid.
/// - cvta: `space`; `mode` 1 for cvta.to.  Shared and local addresses are offsets into the windows
///   of types.hpp, which cvta adds and cvta.to subtracts; other spaces: identity.
/// - mapa: `mode` 1: the result is a generic address; getctarank: b is the rank of the own block.
/// - isspacep: `space`; the address is 64 bits wide unless `type` has 32 bits.
/// - testp: `mode` ClassTest.  setp: p is predicate_destination[0], q [1].
/// - shfl: `mode` ShuffleMode; sources value, lane, clamp, and for .sync the member mask.  A source
///   lane that does not execute reads as zero.  vote: `mode` VoteMode; the member mask is
///   source[0]. match: `mode` MatchMode.  redux: `atomic`.  elect: source[0] the member mask, d|p.
/// - fma, and mul of f32 and f64: `mode` bit 0 negates the product, bit 1 the addend.
/// - mma: Instruction::target is the packed form (matrix/form.hpp), to be set by who binds; sources
///   A, B, C and a member mask of all lanes; all lanes execute it.  movmatrix likewise, of one row.
/// - iadd3: d = a + b + c (bit i of `mode` negates source i).  lea: d = (a << immediate) + b.
///   mad_wide_add: type is that of a and b (s32, u32), c and d have 64 bits.
///
/// The caller leaves `execute`, `detail` and `offset` to bind_semantics.
#pragma once

#include <cstdint>

#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

/// Instruction set levels of x86-64 for which the semantics are compiled.
enum class CpuLevel : std::uint8_t { v2 = 2, v3 = 3, v4 = 4 };

/// Returns the level in use: that of this computer, or the lower one in LOCKSTEP_CPU_LEVEL=2|3|4.
CpuLevel cpu_level();
/// Returns the highest level that this computer can run.
CpuLevel best_cpu_level();

/// Returns the function for an operation; nullptr: the combination of opcode, types and modifiers
/// does not exist (the caller reports it as unsupported).
Execute select_semantics(const ir::Operation& operation);
Execute select_semantics(const ir::Operation& operation, CpuLevel level);

/// Writes `execute`, `detail` (modifiers) and `offset` (opcode-specific immediate).  Returns false
/// if the combination does not exist.
bool bind_semantics(const ir::Operation& operation, Instruction& instruction);
bool bind_semantics(const ir::Operation& operation, Instruction& instruction, CpuLevel level);

}  // namespace lockstep::isa
