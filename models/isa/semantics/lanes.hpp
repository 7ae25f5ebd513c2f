/// Thirty-two lanes side by side: the tools of every family of semantics.
///
/// A function computes all lanes and blends them under the active mask; with all lanes active the
/// blend is left out.  Loops have a constant count and no branches, so that the compiler turns them
/// into vector instructions of the level (LOCKSTEP_LEVEL: v2, v3 or v4) the file is compiled for.
/// Everything is in a namespace of that level and has internal linkage: a function compiled for a
/// newer processor must never be linked into code for an older one.
#pragma once

#include <cstdint>

#include "models/isa/instruction.hpp"
#include "models/isa/semantics/key.hpp"

#ifndef LOCKSTEP_LEVEL
#error "compiled once per x86-64 level, see semantics.cmake"
#endif

namespace lockstep::isa::levels {
#if defined(__AVX512F__) && defined(__AVX512VL__)
constexpr int compiled_for = 4;
#elif defined(__AVX2__)
constexpr int compiled_for = 3;
#else
constexpr int compiled_for = 2;
#endif
constexpr int v2 = 2, v3 = 3, v4 = 4;
// Options of the build that undo the file's own -march would only show as lost speed.
static_assert(compiled_for == LOCKSTEP_LEVEL, "compiled for another level than it is linked as");
}  // namespace lockstep::isa::levels

#define LOCKSTEP_INLINE __attribute__((always_inline)) inline
/// Lanes are independent: a destination row is either equal to a source row or does not overlap it.
#define LOCKSTEP_LANES _Pragma("GCC ivdep") for (unsigned i = 0; i < 32; ++i)

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;
using ir::MulPart;

constexpr u32 all_lanes = 0xffffffff;

template <class L>
struct LaneBits {
  L bit[32];
  constexpr LaneBits() : bit{} {
    for (unsigned i = 0; i < 32; ++i) bit[i] = L{1} << i;
  }
};
/// Lane masks of the width of the selected lanes, so that a test vectorises.
template <class L>
alignas(64) constexpr LaneBits<L> lane_bits{};

template <bool wide>
struct LaneOf {
  using type = u32;
};
template <>
struct LaneOf<true> {
  using type = u64;
};
/// Integer type that holds one lane of a value of this type.
template <Type T>
using Lane = typename LaneOf<bytes_of(T) == 8>::type;

// clang-format off
template <Type T> struct ValueOf { using type = u32; };
template <> struct ValueOf<Type::b8> { using type = u8; };
template <> struct ValueOf<Type::u8> { using type = u8; };
template <> struct ValueOf<Type::s8> { using type = s8; };
template <> struct ValueOf<Type::b16> { using type = u16; };
template <> struct ValueOf<Type::u16> { using type = u16; };
template <> struct ValueOf<Type::s16> { using type = s16; };
template <> struct ValueOf<Type::f16> { using type = u16; };
template <> struct ValueOf<Type::bf16> { using type = u16; };
template <> struct ValueOf<Type::s32> { using type = s32; };
template <> struct ValueOf<Type::b64> { using type = u64; };
template <> struct ValueOf<Type::u64> { using type = u64; };
template <> struct ValueOf<Type::s64> { using type = s64; };
template <> struct ValueOf<Type::f32> { using type = float; };
template <> struct ValueOf<Type::f64> { using type = double; };
// clang-format on
template <Type T>
using Value = typename ValueOf<T>::type;

/// Returns the unsigned integer type of a width.
constexpr Type as_unsigned(Type type) {
  switch (type) {
    case Type::b8:
    case Type::s8:
      return Type::u8;
    case Type::b16:
    case Type::s16:
      return Type::u16;
    case Type::b32:
    case Type::s32:
      return Type::u32;
    case Type::b64:
    case Type::s64:
      return Type::u64;
    default:
      return type;
  }
}
/// Returns the type of plain bits of the same width.
constexpr Type as_bits(Type type) {
  switch (bytes_of(type)) {
    case 1:
      return Type::b8;
    case 2:
      return Type::b16;
    case 4:
      return Type::b32;
    case 8:
      return Type::b64;
    default:
      return Type::none;
  }
}

LOCKSTEP_INLINE float float_of(u32 bits) {
  return __builtin_bit_cast(float, bits);
}
LOCKSTEP_INLINE double double_of(u64 bits) {
  return __builtin_bit_cast(double, bits);
}
LOCKSTEP_INLINE u32 bits_of(float value) {
  return __builtin_bit_cast(u32, value);
}
LOCKSTEP_INLINE u64 bits_of(double value) {
  return __builtin_bit_cast(u64, value);
}

template <Type T>
LOCKSTEP_INLINE Value<T> get(Lane<T> lane) {
  if constexpr (T == Type::f32)
    return float_of(lane);
  else if constexpr (T == Type::f64)
    return double_of(lane);
  else
    return static_cast<Value<T>>(lane);
}
/// Narrow values are zero-extended, signed ones too.
template <Type T>
LOCKSTEP_INLINE Lane<T> put(Value<T> value) {
  if constexpr (T == Type::f32 || T == Type::f64)
    return bits_of(value);
  else
    return static_cast<Value<as_unsigned(T)>>(value);
}

template <class L>
LOCKSTEP_INLINE L* row(const WarpContext& context, Operand operand) {
  const unsigned code = operand.code();
  return reinterpret_cast<L*>(context.bases[code >> 14] + (code & 0x3fff) * warp_size);
}
template <class L>
LOCKSTEP_INLINE L* destination(const Instruction& instruction, const WarpContext& context,
                               unsigned k = 0) {
  return row<L>(context, instruction.destination[k]);
}
template <class L>
LOCKSTEP_INLINE const L* source(const Instruction& instruction, const WarpContext& context,
                                unsigned k) {
  return row<L>(context, instruction.source[k]);
}

/// Writes finished lanes where `active` says so.
template <class L>
LOCKSTEP_INLINE void blend(L* to, const L* from, u32 active) {
  const L mask = active;
  LOCKSTEP_LANES to[i] = (mask & lane_bits<L>.bit[i]) != 0 ? from[i] : to[i];
}
template <class L>
LOCKSTEP_INLINE void store(L* to, const L* from, u32 active) {
  if (active == all_lanes)
    __builtin_memcpy(to, from, 32 * sizeof(L));
  else
    blend(to, from, active);
}

/// Computes to[i] = lane(i).  Sources have the destination's width, so each lane is read before its
/// place is written.
template <class L, class F>
LOCKSTEP_INLINE void for_lanes(L* to, u32 active, F lane) {
  if (active == all_lanes) {
    LOCKSTEP_LANES to[i] = lane(i);
    return;
  }
  alignas(64) L result[32];
  LOCKSTEP_LANES result[i] = lane(i);
  blend(to, result, active);
}
/// Computes lanes from sources of another width: all lanes are read before any is written.
template <class L, class F>
LOCKSTEP_INLINE void for_lanes_staged(L* to, u32 active, F lane) {
  alignas(64) L result[32];
  LOCKSTEP_LANES result[i] = lane(i);
  store(to, result, active);
}
/// Computes lanes that branch or loop: active ones only.
template <class L, class F>
LOCKSTEP_INLINE void for_active(L* to, u32 active, F lane) {
  L result[32];
  for (u32 rest = active; rest != 0; rest &= rest - 1) {
    const unsigned i = static_cast<unsigned>(__builtin_ctz(rest));
    result[i] = lane(i);
  }
  for (u32 rest = active; rest != 0; rest &= rest - 1) {
    const unsigned i = static_cast<unsigned>(__builtin_ctz(rest));
    to[i] = result[i];
  }
}

/// Returns a mask of the lanes for which `lane(i)` is true; L: width of the compared values.
template <class L, class F>
LOCKSTEP_INLINE u32 lanes_where(F lane) {
  L mask = 0;
  LOCKSTEP_LANES mask |= lane(i) ? lane_bits<L>.bit[i] : L{0};
  return static_cast<u32>(mask);
}

LOCKSTEP_INLINE u32 read_predicate(const Instruction& instruction, const WarpContext& context,
                                   unsigned k) {
  const u8 index = instruction.predicate_source[k];
  const u32 mask = index == no_predicate ? all_lanes : context.predicates[index];
  const unsigned negated = k == 0 ? flag_source_negated_0 : flag_source_negated_1;
  return (instruction.flags & negated) != 0 ? ~mask : mask;
}
LOCKSTEP_INLINE void write_predicate(const Instruction& instruction, const WarpContext& context,
                                     unsigned k, u32 mask) {
  const u8 index = instruction.predicate_destination[k];
  if (index == no_predicate) return;
  u32& predicate = context.predicates[index];
  predicate = (predicate & ~context.active) | (mask & context.active);
}

LOCKSTEP_INLINE unsigned mode_of(const Instruction& instruction) {
  return instruction.detail >> detail_bits::mode_shift;
}

/// d = Op(a), d = Op(a, b), d = Op(a, b, c) where all have one type.
template <Type T, class Op>
void unary(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<T>>(instruction, context, 0);
  for_lanes(destination<Lane<T>>(instruction, context), context.active,
            [=](unsigned i) { return put<T>(Op::apply(get<T>(a[i]))); });
}
template <Type T, class Op>
void binary(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<T>>(instruction, context, 0);
  const auto* b = source<Lane<T>>(instruction, context, 1);
  for_lanes(destination<Lane<T>>(instruction, context), context.active,
            [=](unsigned i) { return put<T>(Op::apply(get<T>(a[i]), get<T>(b[i]))); });
}
template <Type T, class Op>
void ternary(const Instruction& instruction, WarpContext& context) {
  const auto* a = source<Lane<T>>(instruction, context, 0);
  const auto* b = source<Lane<T>>(instruction, context, 1);
  const auto* c = source<Lane<T>>(instruction, context, 2);
  for_lanes(destination<Lane<T>>(instruction, context), context.active, [=](unsigned i) {
    return put<T>(Op::apply(get<T>(a[i]), get<T>(b[i]), get<T>(c[i])));
  });
}

/// Returns the function for `type` out of a list of types; nullptr if the type is not in the list.
template <class Op, Type... Types>
Execute pick_unary(Type type) {
  Execute chosen = nullptr;
  ((type == Types ? void(chosen = &unary<Types, Op>) : void()), ...);
  return chosen;
}
template <class Op, Type... Types>
Execute pick_binary(Type type) {
  Execute chosen = nullptr;
  ((type == Types ? void(chosen = &binary<Types, Op>) : void()), ...);
  return chosen;
}
template <class Op, Type... Types>
Execute pick_ternary(Type type) {
  Execute chosen = nullptr;
  ((type == Types ? void(chosen = &ternary<Types, Op>) : void()), ...);
  return chosen;
}
/// Returns Kernel<T>::run for the type.
template <template <Type> class Kernel, Type... Types>
Execute pick(Type type) {
  Execute chosen = nullptr;
  ((type == Types ? void(chosen = Kernel<Types>::run) : void()), ...);
  return chosen;
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
