#pragma once

#include <cstddef>

namespace lockstep {

/// Returns the part that takes thing `number`, when `parts` take equal things one after the other.
/// Each takes one in every round, in an order in which no part profits from a trend: among the
/// first parts^k things each part has the same sum of their numbers, of the squares, and of all
/// powers below k.
/// Source: Prouhet, 1851; Allouche, Shallit, "The ubiquitous Prouhet-Thue-Morse sequence", 1999.
constexpr std::size_t fair_turn(std::size_t number, std::size_t parts) {
  if (parts < 2) return 0;
  std::size_t digits = 0;
  for (; number > 0; number /= parts) digits += number % parts;
  return digits % parts;
}

}  // namespace lockstep
