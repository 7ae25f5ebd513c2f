/// Progress of a warp group's warps with their products.
///
/// Products have numbers from 1 on, in the order in which each warp issues them.  A product starts
/// when the last of the four warps has issued it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/isa/matrix/warpgroup_form.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

struct WarpgroupProgress {
  /// Entries kept: more than may be under way, and than a wait may name.
  static constexpr unsigned kept = 8;
  using ByWarp = std::array<std::uint32_t, isa::warps_of_group>;

  ByWarp issued{};
  /// Last product of each of the newest committed groups, by warp; the newest group first.
  std::array<std::array<std::uint32_t, kept>, isa::warps_of_group> ends{};
  std::array<SmCycle, kept> done{};  ///< end of each started product, by number modulo `kept`
  std::array<std::uint32_t, kept>
      pcs{};  ///< pc of each issued product of a warp, by number modulo `kept`

  std::uint32_t started() const { return *std::ranges::min_element(issued); }
  std::uint32_t begun() const { return *std::ranges::max_element(issued); }
  /// Returns whether the products up to a number are complete.
  bool is_done(std::uint32_t number, SmCycle now) const {
    if (number == 0 || number + kept <= begun()) return true;
    return number <= started() && done[number % kept] <= now;
  }
  void commit(unsigned warp) {
    auto& groups = ends[warp];
    std::shift_right(groups.begin(), groups.end(), 1);
    groups[0] = issued[warp];
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(issued, ends, done, pcs);
  }
};

}  // namespace lockstep
