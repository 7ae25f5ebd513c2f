/// Partial context switching: where several kernels share an SM, one that arrives gets its fair
/// part of it at once, from the kernel that has most above its own.
///
/// A fair part: an SM that is filled block by block, each time with one of the kernel whose
/// dominant share there is smallest.  For a kernel that arrives each SM makes room once, by as few
/// blocks as it takes; they are saved, and return one by one when it is their kernel's turn to get
/// a place, before blocks that have not started: to their SM or to another one. Source: 003,
/// sections 1 and 5 (SMK: partial context switching for fairness); preemption.md, section 2.
///
/// Simplified: of a kernel those blocks leave that stand last in the SM; an SM from which blocks
/// are still away makes no room for another kernel; none makes room for a gang, which waits until
/// blocks have ended.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/dispatch/preemption/takeovers.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/dispatch/sm_mirrors.hpp"

namespace lockstep {

/// How many blocks of each kernel an SM has when it is full and they are treated alike.
std::vector<std::uint32_t> fair_parts(std::span<const BlockResources> kernels,
                                      const OccupancyLimits& limits);

class PartialSwitching {
 public:
  /// What it shares with the dispatcher.
  struct Parts {
    DispatchedGrids& grids;
    SmMirrors& sms;
    std::vector<Link>& to_sms;
    const OccupancyLimits& limits;
    Takeovers& takeovers;
  };
  explicit PartialSwitching(const Parts& parts) : parts_(parts) {}

  /// SMs make room for grids that have come.
  void make_room(std::span<const GridView> views, Time now, Outbox& outbox);
  /// Blocks that an SM may get: any, or only saved ones.
  enum class Offer : std::uint8_t { all, returns };
  /// Whose block the SM gets next.
  std::optional<std::size_t> choose(const Sharing& sharing, std::span<const GridView> views,
                                    std::uint32_t sm, Offer offer = Offer::all);
  /// Blocks may start there again, and return by themselves: none is away that can be asked for.
  static bool resumes(const DispatchedGrid& grid, std::uint32_t sm) {
    return grid.away[sm] == 0 || grid.keeps[sm];
  }
  /// A block has left the SM, perhaps the last one that was to.
  void left(std::uint32_t sm, Time now);

 private:
  void find_fair_parts(std::span<const GridView> views);
  void make_room_for(DispatchedGrid& grid, std::uint32_t part, Time now, Outbox& outbox);
  /// Places for blocks of the grid that it has or is about to get.
  std::uint64_t coming(const DispatchedGrid& grid) const;
  /// It gives no blocks up now.
  bool is_busy(std::uint32_t sm) const;
  /// So many more blocks of the grid would find room when these have left; at most `most`.
  std::uint32_t room_without(std::uint32_t sm, const DispatchedGrid& victim,
                             std::span<const BlockRoom> leave, const DispatchedGrid& grid,
                             std::uint32_t most) const;
  /// Which blocks leave so that up to `places` of the grid find room, and how many do.
  SmRelease release_for(std::uint32_t sm, const DispatchedGrid& victim, std::uint32_t at_most,
                        const DispatchedGrid& grid, std::uint32_t places) const;
  void take(std::uint32_t sm, DispatchedGrid& victim, const DispatchedGrid& grid,
            const SmRelease& release, Time now, Outbox& outbox);
  std::uint32_t count_at(std::uint32_t sm, const DispatchedGrid& grid) const {
    return static_cast<std::uint32_t>(parts_.sms[sm].places.rooms_of(grid.number()).size());
  }

  const Parts parts_;
  std::vector<std::uint32_t> fair_;  ///< by grid
  std::vector<GridView> here_;       ///< scratch
};

}  // namespace lockstep
