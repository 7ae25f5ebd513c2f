/// Position of a warp's shared-memory addresses relative to each other, and the cycles that the
/// banks need for them.
///
/// The lanes of an instruction nearly always have the same pattern as last time, so patterns are
/// kept by instruction.  The kept patterns are scratch memory of the running thread and change no
/// result.
/// Source: gpu-parameters.md, sections 3 and 10; hot-path.md ("Remembering the address pattern per
/// instruction").
#pragma once

#include <smmintrin.h>

#include <array>
#include <cstdint>

#include "core/memory/kept.hpp"
#include "models/isa/instruction.hpp"

namespace lockstep {

using LaneOffsets = std::array<std::uint32_t, 32>;

/// Position of an instruction's lane addresses, relative to the first active lane's.
struct LanePattern {
  enum Shape : std::uint8_t { scattered, quads_of_neighbours, quads_of_one };

  std::uint64_t key = 0;  ///< key of the pattern, see key_of; 0: must not be remembered
  std::int32_t least = 0, most = 0;
  std::uint32_t low_bits = 0;          ///< low address bits of all elements of `relative`
  std::uint32_t degree = 1;            ///< cycles that the banks need
  Shape shape = scattered;             ///< arrangement of each four lanes, for 32-bit accesses
  alignas(32) LaneOffsets relative{};  ///< signed byte offsets; zero for inactive lanes

  /// Returns the key that, together with `relative`, determines all other members.  `serial`: lanes
  /// that use one word are served one after the other.  `packs`: pairs of lanes that want the same
  /// word share the answer.
  static std::uint64_t key_of(std::uint32_t lanes, unsigned bytes, unsigned banks, bool serial,
                              bool packs = false) {
    return lanes | std::uint64_t{banks} << 32 | std::uint64_t{bytes} << 48 |
           std::uint64_t{serial} << 56 | std::uint64_t{packs} << 57;
  }
  /// Returns whether all 32 lanes have the pattern's relative addresses.
  bool fits(const std::uint32_t* address) const {
    const __m128i base = _mm_set1_epi32(static_cast<int>(address[0]));
    __m128i different = _mm_setzero_si128();
    for (unsigned lane = 0; lane < 32; lane += 4) {
      const auto* four = reinterpret_cast<const __m128i*>(address + lane);
      const auto* expected = reinterpret_cast<const __m128i*>(&relative[lane]);
      const __m128i offset = _mm_sub_epi32(_mm_loadu_si128(four), base);
      different = _mm_or_si128(different, _mm_xor_si128(offset, _mm_load_si128(expected)));
    }
    return _mm_testz_si128(different, different) != 0;
  }
};

/// Sets `pattern` to the pattern of these lanes, unless it has that value already.
void match_pattern(LanePattern& pattern, std::uint64_t key, const std::uint32_t* address,
                   std::uint32_t base);

/// Returns the pattern of an instruction whose lane l uses address[l] plus a constant, `base` for
/// the first active lane.  The banks' work stays the same when all addresses move by whole words.
inline const LanePattern& pattern_of(const isa::Instruction& instruction, std::uint64_t key,
                                     const std::uint32_t* address, std::uint32_t base) {
  // Patterns by a hash of the instruction's address; an instruction of another module may use the
  // same entry.
  thread_local constinit std::array<LanePattern, 512> patterns{};
  const auto number = reinterpret_cast<std::uintptr_t>(&instruction) / sizeof(isa::Instruction);
  LanePattern& pattern = kept(patterns[number % patterns.size()]);
  const bool all = static_cast<std::uint32_t>(key) == 0xffffffff;
  if (!all || pattern.key != key || base % 4 != 0 || !pattern.fits(address)) [[unlikely]]
    match_pattern(pattern, key, address, base);
  return pattern;
}

}  // namespace lockstep
