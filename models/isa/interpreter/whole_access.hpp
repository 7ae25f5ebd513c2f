/// Aligned accesses of up to 16 bytes as one access of this computer: a block on another core sees
/// all or nothing of it, whatever the width of its elements.  32 bytes are two accesses.
/// Source: Intel, "Software Developer's Manual", volume 3, section 9.1.1 (aligned 16-byte moves of
/// processors with AVX are atomic); AMD, "Programmer's Manual", volume 2, section 7.3.2.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lockstep::isa {

/// Returns whether 16 bytes are one access here.
inline bool host_moves_16_bytes_at_once() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx");
#else
  return false;
#endif
}

template <class Word>
void copy_word(std::byte* to, const std::byte* from) {
  using Bytes [[gnu::may_alias]] = Word;
  const Word value = __atomic_load_n(reinterpret_cast<const Bytes*>(from), __ATOMIC_RELAXED);
  __atomic_store_n(reinterpret_cast<Bytes*>(to), value, __ATOMIC_RELAXED);
}

inline void copy_16_bytes(std::byte* to, const std::byte* from) {
#if defined(__x86_64__)
  using Vector = __m128i;
  Vector value;
  // In assembly, since the compiler may split a vector access into two words.
  asm volatile("movdqa %1, %0" : "=x"(value) : "m"(*reinterpret_cast<const Vector*>(from)));
  asm volatile("movdqa %1, %0" : "=m"(*reinterpret_cast<Vector*>(to)) : "x"(value));
#else
  copy_word<std::uint64_t>(to, from);
  copy_word<std::uint64_t>(to + 8, from + 8);
#endif
}

/// Copies bytes between places that are aligned to their number, or to 16 bytes.
inline void copy_whole(std::byte* to, const std::byte* from, unsigned bytes) {
  switch (bytes) {
    case 1:
      return copy_word<std::uint8_t>(to, from);
    case 2:
      return copy_word<std::uint16_t>(to, from);
    case 4:
      return copy_word<std::uint32_t>(to, from);
    case 8:
      return copy_word<std::uint64_t>(to, from);
    default:
      for (unsigned at = 0; at < bytes; at += 16) copy_16_bytes(to + at, from + at);
  }
}

}  // namespace lockstep::isa
