#pragma once

#include <cstdint>

namespace lockstep {

/// Warp slot in the six top bits; below, what happens to it: a place of its scoreboard falls (nine
/// bits, and one that says that its neighbour falls too), or a number behind the last place.
struct WarpEvent {
  static constexpr std::uint16_t pair = 512;
  static constexpr std::uint16_t resume = 320;         ///< the warp goes on
  static constexpr std::uint16_t fetch_on = 321;       ///< its fetch does
  static constexpr std::uint16_t operands_read = 322;  ///< of one of its instructions, in order
  static constexpr std::uint16_t last_check = 323;     ///< one of its accesses can fault no more
  static constexpr std::uint16_t committed = 324;      ///< one of its accesses has committed
  static constexpr std::uint16_t code_came = 325;     ///< instructions or parameters that it lacked
  static constexpr std::uint16_t copies_came = 326;   ///< of those that it waits for
  static constexpr std::uint16_t wait_limit = 327;    ///< of a path that waits for a phase
  static constexpr std::uint16_t product_done = 328;  ///< one of its warp group's
  static constexpr std::uint16_t unit_free = 329;  ///< and 15 more: of a class; see ExecutionUnits
  static constexpr std::uint16_t group = 345;  ///< destinations of an instruction with many commit
  static constexpr unsigned groups = 512 - group;  ///< that may be under way at once

  static constexpr std::uint16_t with_warp(std::uint16_t code, unsigned warp) {
    return static_cast<std::uint16_t>(code | warp << 10);
  }
  static constexpr unsigned warp(std::uint16_t event) { return event >> 10; }
  static constexpr unsigned place(std::uint16_t event) { return event & 511; }
  static constexpr bool is_commit(std::uint16_t event) { return place(event) < resume; }
};

}  // namespace lockstep
