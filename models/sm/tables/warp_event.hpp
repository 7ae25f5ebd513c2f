#pragma once

#include <cstdint>

namespace lockstep {

/// Event of a warp.  The six top bits are the warp slot.  Below stands either a place of the
/// scoreboard that is cleared (nine bits, and one bit if its neighbour is cleared too), or the
/// number of another event, beyond the last place.
struct WarpEvent {
  static constexpr std::uint16_t pair = 512;
  static constexpr std::uint16_t resume = 320;    ///< the warp goes on
  static constexpr std::uint16_t fetch_on = 321;  ///< the fetch of the warp goes on
  /// An instruction of the warp has read its operands; in order.
  static constexpr std::uint16_t operands_read = 322;
  /// An access of the warp has passed its last check and can fault no more.
  static constexpr std::uint16_t last_check = 323;
  static constexpr std::uint16_t committed = 324;  ///< an access of the warp has committed
  /// The missing instructions or parameters have come.
  static constexpr std::uint16_t code_came = 325;
  static constexpr std::uint16_t copies_came = 326;  ///< copies that the warp waits for have come
  /// The time limit of a path that waits for a phase is over.
  static constexpr std::uint16_t wait_limit = 327;
  static constexpr std::uint16_t product_done = 328;  ///< a product of the warp group is done
  /// First of 16 events: a unit of a class is free; see ExecutionUnits.
  static constexpr std::uint16_t unit_free = 329;
  /// First event of a group: the destinations of an instruction with many commit.
  static constexpr std::uint16_t group = 345;
  static constexpr unsigned groups = 512 - group;  ///< groups that may be under way at once

  static constexpr std::uint16_t with_warp(std::uint16_t code, unsigned warp) {
    return static_cast<std::uint16_t>(code | warp << 10);
  }
  static constexpr unsigned warp(std::uint16_t event) { return event >> 10; }
  static constexpr unsigned place(std::uint16_t event) { return event & 511; }
  static constexpr bool is_commit(std::uint16_t event) { return place(event) < resume; }
};

}  // namespace lockstep
