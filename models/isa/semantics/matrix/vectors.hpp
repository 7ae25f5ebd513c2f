/// Vectors of the level's width: rows of matrices side by side.
///
/// Types of the compiler's own vectors (GCC and Clang): operators work lane by lane, and a
/// comparison gives all ones or zero.
#pragma once

#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr unsigned vector_bytes = levels::compiled_for == levels::v4   ? 64
                                  : levels::compiled_for == levels::v3 ? 32
                                                                       : 16;
constexpr unsigned vector_lanes = vector_bytes / 4;
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef s32 Ints __attribute__((vector_size(vector_bytes)));
typedef u32 Naturals __attribute__((vector_size(vector_bytes)));
typedef s16 Shorts __attribute__((vector_size(vector_bytes)));  ///< two values per lane

/// Precondition: aligned to the vector.
template <class V, class T>
LOCKSTEP_INLINE V load_vector(const T* from) {
  return *reinterpret_cast<const V*>(from);
}
template <class V, class T>
LOCKSTEP_INLINE void store_vector(T* to, V value) {
  *reinterpret_cast<V*>(to) = value;
}
/// Returns a vector with the same 32 bits in every lane.
LOCKSTEP_INLINE Ints everywhere(s32 value) {
  return Ints{} + value;
}
LOCKSTEP_INLINE Floats everywhere(float value) {
  return reinterpret_cast<Floats>(everywhere(static_cast<s32>(bits_of(value))));
}
/// Returns a + b modulo 2^32.
LOCKSTEP_INLINE Ints wrapped_sum(Ints a, Ints b) {
  return reinterpret_cast<Ints>(reinterpret_cast<Naturals>(a) + reinterpret_cast<Naturals>(b));
}
/// Returns a - b modulo 2^32.
LOCKSTEP_INLINE Ints wrapped_difference(Ints a, Ints b) {
  return reinterpret_cast<Ints>(reinterpret_cast<Naturals>(a) - reinterpret_cast<Naturals>(b));
}
template <class V>
LOCKSTEP_INLINE V larger_of(V a, V b) {
  return a > b ? a : b;
}
/// Rounds towards zero.
LOCKSTEP_INLINE Ints truncated(Floats value) {
  return __builtin_convertvector(value, Ints);
}
LOCKSTEP_INLINE Floats as_floats(Ints value) {
  return __builtin_convertvector(value, Floats);
}
LOCKSTEP_INLINE bool any_bit(Ints value) {
  u32 bits = 0;
  for (unsigned i = 0; i < vector_lanes; ++i) bits |= static_cast<u32>(value[i]);
  return bits != 0;
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
