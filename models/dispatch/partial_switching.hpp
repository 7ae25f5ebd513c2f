/// Partial context switching: where several kernels share an SM, a kernel that arrives gets its
/// fair part of the SM at once, from the kernel that has most above its own part.
///
/// Fair parts are those of an SM that is filled block by block, each time with a block of the
/// kernel whose dominant share there is smallest.  Each SM makes room once for a kernel that
/// arrives, by as few blocks as it takes.  These are saved, and return one by one when it is their
/// kernel's turn to get a place, before blocks that have not started: to their SM or to another
/// one.
/// Source: 003, sections 1 and 5 (SMK: partial context switching for fairness); preemption.md,
/// section 2.
///
/// Simplified: the blocks of a kernel that stand last in the SM leave. An SM whose saved blocks
/// have not all returned makes no room for another kernel. No SM makes room for a gang, which waits
/// until blocks have ended.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/dispatch/preemption/takeovers.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/dispatch/sm_mirrors.hpp"

namespace lockstep {

/// Returns the number of blocks of each kernel on a full SM that treats the kernels alike.
std::vector<std::uint32_t> fair_parts(std::span<const BlockResources> kernels,
                                      const OccupancyLimits& limits);

class PartialSwitching {
 public:
  /// Parts that PartialSwitching shares with the dispatcher.
  struct Parts {
    DispatchedGrids& grids;
    SmMirrors& sms;
    std::vector<Link>& to_sms;
    const OccupancyLimits& limits;
    Takeovers& takeovers;
  };
  explicit PartialSwitching(const Parts& parts) : parts_(parts) {}

  /// Lets SMs make room for grids that have come.
  void make_room(std::span<const GridView> views, Time now, Outbox& outbox);
  /// Blocks that an SM may get: any, or only saved ones.
  enum class Offer : std::uint8_t { all, returns };
  /// Returns the grid of which the SM gets a block next.
  std::optional<std::size_t> choose(const Sharing& sharing, std::span<const GridView> views,
                                    std::uint32_t sm, Offer offer = Offer::all);
  /// Returns whether blocks may start at the SM again and return by themselves: the SM has no saved
  /// block to give away.
  static bool resumes(const DispatchedGrid& grid, std::uint32_t sm) {
    return grid.away[sm] == 0 || grid.keeps[sm];
  }
  /// A block has left the SM, perhaps the last block that was to.
  void left(std::uint32_t sm, Time now);

 private:
  void find_fair_parts(std::span<const GridView> views);
  void make_room_for(DispatchedGrid& grid, std::uint32_t part, Time now, Outbox& outbox);
  /// Returns how many places for its blocks the grid has or is about to get.
  std::uint64_t coming(const DispatchedGrid& grid) const;
  /// Returns whether the SM cannot be asked to give blocks up now.
  bool is_busy(std::uint32_t sm) const;
  /// Returns how many more blocks of the grid would find room when the blocks in `leave` have left;
  /// at most `most`.
  std::uint32_t room_without(std::uint32_t sm, const DispatchedGrid& victim,
                             std::span<const BlockRoom> leave, const DispatchedGrid& grid,
                             std::uint32_t most) const;
  /// Returns the blocks that leave so that up to `places` blocks of the grid find room, and their
  /// number.
  SmRelease release_for(std::uint32_t sm, const DispatchedGrid& victim, std::uint32_t at_most,
                        const DispatchedGrid& grid, std::uint32_t places) const;
  void take(std::uint32_t sm, DispatchedGrid& victim, const DispatchedGrid& grid,
            const SmRelease& release, Time now, Outbox& outbox);
  std::uint32_t count_at(std::uint32_t sm, const DispatchedGrid& grid) const {
    return static_cast<std::uint32_t>(parts_.sms[sm].places.rooms_of(grid.number()).size());
  }

  const Parts parts_;
  std::vector<std::uint32_t> fair_;  ///< fair number of SMs for each grid
  std::vector<GridView> here_;       ///< scratch
};

}  // namespace lockstep
