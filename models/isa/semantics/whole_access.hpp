/// Aligned accesses of up to 16 bytes as one access of this computer: a block on another core sees
/// all or nothing of it, whatever the width of its elements.  32 bytes are two accesses.
/// Source: Intel, "Software Developer's Manual", volume 3, section 9.1.1 (aligned 16-byte moves of
/// processors with AVX are atomic); AMD, "Programmer's Manual", volume 2, section 7.3.2.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
// Where code uses AVX, the other form would wait for the upper halves of registers.
#if defined(__AVX__)
#define LOCKSTEP_MOVE_16 "vmovdqa"
#else
#define LOCKSTEP_MOVE_16 "movdqa"
#endif
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

/// Bytes that are read or written as one access of this computer, where there is one of their
/// number.  All functions are inlined, also into code for newer processors than others have.
template <unsigned bytes>
struct Whole {
  std::byte at[bytes];

  [[gnu::always_inline]] void load(const std::byte* from) {
    if constexpr (bytes == 1) load_word<std::uint8_t>(from);
    if constexpr (bytes == 2) load_word<std::uint16_t>(from);
    if constexpr (bytes == 4) load_word<std::uint32_t>(from);
    if constexpr (bytes == 8) load_word<std::uint64_t>(from);
    if constexpr (bytes >= 16)
      for (unsigned i = 0; i < bytes; i += 16) load_16(at + i, from + i);
  }
  [[gnu::always_inline]] void store(std::byte* to) const {
    if constexpr (bytes == 1) store_word<std::uint8_t>(to);
    if constexpr (bytes == 2) store_word<std::uint16_t>(to);
    if constexpr (bytes == 4) store_word<std::uint32_t>(to);
    if constexpr (bytes == 8) store_word<std::uint64_t>(to);
    if constexpr (bytes >= 16)
      for (unsigned i = 0; i < bytes; i += 16) store_16(to + i, at + i);
  }
  /// Sets element `k` of elements of this type.
  template <class Word>
  [[gnu::always_inline]] void set(Word word, unsigned k = 0) {
    __builtin_memcpy(at + k * sizeof word, &word, sizeof word);
  }
  /// Returns element `k` of elements of this type.
  template <class Word>
  [[gnu::always_inline]] Word get(unsigned k = 0) const {
    Word word;
    __builtin_memcpy(&word, at + k * sizeof word, sizeof word);
    return word;
  }

 private:
  template <class Word>
  struct Aliasing {
    using Type [[gnu::may_alias]] = Word;
  };
  template <class Word>
  [[gnu::always_inline]] void load_word(const std::byte* from) {
    using Bytes = typename Aliasing<Word>::Type;
    set<Word>(__atomic_load_n(reinterpret_cast<const Bytes*>(from), __ATOMIC_RELAXED));
  }
  template <class Word>
  [[gnu::always_inline]] void store_word(std::byte* to) const {
    using Bytes = typename Aliasing<Word>::Type;
    __atomic_store_n(reinterpret_cast<Bytes*>(to), get<Word>(), __ATOMIC_RELAXED);
  }
  // In assembly, since the compiler may split a vector access into two words.
  [[gnu::always_inline]] static void load_16(std::byte* to, const std::byte* from) {
#if defined(__x86_64__)
    __m128i value;
    asm volatile(LOCKSTEP_MOVE_16 " %1, %0"
                 : "=x"(value)
                 : "m"(*reinterpret_cast<const __m128i*>(from)));
    __builtin_memcpy(to, &value, 16);
#else
    for (unsigned i = 0; i < 16; i += 8) {
      Whole<8> half;
      half.load(from + i);
      __builtin_memcpy(to + i, half.at, 8);
    }
#endif
  }
  [[gnu::always_inline]] static void store_16(std::byte* to, const std::byte* from) {
#if defined(__x86_64__)
    __m128i value;
    __builtin_memcpy(&value, from, 16);
    asm volatile(LOCKSTEP_MOVE_16 " %1, %0" : "=m"(*reinterpret_cast<__m128i*>(to)) : "x"(value));
#else
    for (unsigned i = 0; i < 16; i += 8) {
      Whole<8> half;
      __builtin_memcpy(half.at, from + i, 8);
      half.store(to + i);
    }
#endif
  }
};

/// Copies bytes between places that are aligned to their number, or to 16 bytes.
template <unsigned bytes>
[[gnu::always_inline]] inline void copy_whole(std::byte* to, const std::byte* from) {
  Whole<bytes> whole;
  whole.load(from);
  whole.store(to);
}
inline void copy_whole(std::byte* to, const std::byte* from, unsigned bytes) {
  switch (bytes) {
    case 1:
      return copy_whole<1>(to, from);
    case 2:
      return copy_whole<2>(to, from);
    case 4:
      return copy_whole<4>(to, from);
    case 8:
      return copy_whole<8>(to, from);
    default:
      for (unsigned at = 0; at < bytes; at += 16) copy_whole<16>(to + at, from + at);
  }
}

}  // namespace lockstep::isa
