/// Clocks of a block's warps: the knowledge of threads about each other's accesses.  Known accesses
/// are ordered; others may be concurrent.
///
/// A warp has a clock, whose time is noted with its accesses, and a time for each other warp: it
/// comes after everything that the other warp did up to that time.  Barriers, member masks and
/// strong accesses of the same place pass this knowledge on.
/// Source: Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI
/// 2009, section 3 (vector clocks).
///
/// Simplified: an order that one lane learns of counts for all lanes of its warp, unless the lane
/// learned of it by a member mask. So fewer races are found, and the found ones are sure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/types.hpp"

namespace lockstep::isa {

class WarpClocks {
 public:
  using Time = std::uint32_t;
  /// Clocks by warp.
  using Knowledge = std::vector<Time>;

  explicit WarpClocks(std::uint32_t warps);

  Time now(std::uint32_t warp) const { return warps_[warp].clock; }
  /// Returns whether `lane` of `warp` comes after the accesses of lane `other_lane` of `other` at
  /// `time`.
  bool comes_after(std::uint32_t warp, unsigned lane, std::uint32_t other, unsigned other_lane,
                   Time time) const {
    const Warp& mine = warps_[warp];
    if (other != warp) return time <= mine.known[other];
    if (lane == other_lane || time <= mine.together) return true;
    return !mine.pairs.empty() && time <= mine.pairs[lane][other_lane];
  }

  /// Adds to `to` the knowledge that other warps get from this one now, without its later accesses.
  void teach(std::uint32_t warp, Knowledge& to);
  void learn(std::uint32_t warp, const Knowledge& from);
  /// Lets `lanes` of the warp meet; `alive` lanes have not exited.
  void meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t alive);

 private:
  using Row = std::array<Time, warp_size>;
  struct Warp {
    Time clock = 1, together = 0;  ///< clock of the warp, and time at which all its lanes last met
    Knowledge known;
    /// Knowledge of each lane about the others, once fewer than all have met.
    std::vector<Row> pairs;
  };
  std::vector<Warp> warps_;
};

}  // namespace lockstep::isa
