/// Hints of memory instructions on the lines that the L2 should keep: by a cache policy
/// (createpolicy, `.L2::cache_hint`) or by `.L2::evict_first` and similar modifiers.
///
/// Source: PTX ISA 8.x, "Cache Eviction Priority Hints" and "createpolicy"; the 64 bits of a policy
/// of one priority: constants of CUTLASS.  A policy that gives a fraction of the lines its primary
/// priority also carries that fraction, in low bits of our own.
#pragma once

#include <cstdint>

namespace lockstep::isa {

enum class L2Priority : std::uint8_t {
  unchanged,  ///< the line keeps its priority; a new line has the normal one
  normal,
  first,  ///< the line is evicted before others
  last,   ///< the line is evicted after others
};
inline constexpr unsigned l2_priority_bits = 2;

/// A hint fits in ten bits: of ir::Operation::mode and Instruction::detail.
struct L2Hint {
  L2Priority primary = L2Priority::unchanged, secondary = L2Priority::unchanged;
  /// Share of all lines that get the primary priority, in sixteenths.
  std::uint8_t sixteenths = 16;

  constexpr std::uint16_t packed() const {
    return static_cast<std::uint16_t>(static_cast<unsigned>(primary) |
                                      static_cast<unsigned>(secondary) << 2 | sixteenths << 4);
  }
  static constexpr L2Hint unpack(std::uint16_t bits) {
    return {static_cast<L2Priority>(bits & 3), static_cast<L2Priority>(bits >> 2 & 3),
            static_cast<std::uint8_t>(bits >> 4 & 31)};
  }
};
inline constexpr std::uint16_t no_l2_hint = 0;  ///< code of an instruction without a hint

// Flags beside the hint, for an instruction that only gives a hint on a line:
inline constexpr std::uint16_t l2_hint_only =
    1u << 14;  ///< hint for the L2 alone, used if it marks priorities
inline constexpr std::uint16_t l2_discards = 1u << 15;  ///< the line need not be written back

/// Returns the 64 bits that createpolicy gives a program.
constexpr std::uint64_t l2_policy(const L2Hint& hint) {
  constexpr std::uint64_t of_priority[] = {0x1000000000000000, 0x1000000000000000,
                                           0x12f0000000000000, 0x14f0000000000000};
  return of_priority[static_cast<unsigned>(hint.primary)] | hint.packed();
}
/// Returns the hint of a policy, made by createpolicy or a constant of a library.
constexpr std::uint16_t l2_hint_of_policy(std::uint64_t policy) {
  constexpr std::uint64_t own_bits = 0x3ff;
  if ((policy & own_bits) != 0) return static_cast<std::uint16_t>(policy & own_bits);
  switch (policy >> 48) {
    case 0x1000:
      return L2Hint{.primary = L2Priority::normal}.packed();
    case 0x12f0:
      return L2Hint{.primary = L2Priority::first}.packed();
    case 0x14f0:
      return L2Hint{.primary = L2Priority::last}.packed();
    default:
      return no_l2_hint;
  }
}

/// Returns the priority that a line gets.  Which lines are the fraction follows from their number.
constexpr L2Priority l2_priority(std::uint16_t packed, std::uint64_t line) {
  const L2Hint hint = L2Hint::unpack(packed);
  const std::uint64_t place = line * 0x9e3779b97f4a7c15 >> 60;
  return place < hint.sixteenths ? hint.primary : hint.secondary;
}

}  // namespace lockstep::isa
