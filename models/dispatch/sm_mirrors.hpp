/// Mirrors of the SMs at the dispatcher: the resources in use on each SM, and the block that waits
/// there for room.
///
/// A mirror is derived from sent and received messages, with the same arithmetic as in the SM.
/// Source: architecture.md, section 8 "Horizons and ranks" (staging).
#pragma once

#include <optional>
#include <vector>

#include "models/dispatch/dispatched_grid.hpp"
#include "models/sm/parameters/sm_places.hpp"

namespace lockstep {

struct SmMirror {
  BlockResources used;
  bool has_staged = false;
  BlockResources staged;
  std::uint32_t staged_grid = 0;
  std::uint64_t staged_block = 0;
  // With a preemption:
  std::optional<std::uint32_t> owner;  ///< grid whose blocks are on the SM
  std::uint32_t on_chip = 0;           ///< blocks on chip, without the staged one
  std::optional<std::uint32_t> guest;  ///< more urgent grid whose blocks join the owner's
  std::uint32_t guests = 0;            ///< blocks of the guest grid
  SmPlaces places;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(used, has_staged, staged, staged_grid, staged_block, owner, on_chip, guest, guests,
            places);
  }
};

class SmMirrors {
 public:
  SmMirrors(std::size_t count, const OccupancyLimits& limits, Placement placement);

  std::uint32_t size() const { return static_cast<std::uint32_t>(sms_.size()); }
  SmMirror& operator[](std::uint32_t sm) { return sms_[sm]; }
  const SmMirror& operator[](std::uint32_t sm) const { return sms_[sm]; }
  bool has_room(std::uint32_t sm, const DispatchedGrid& grid) const {
    return sms_[sm].used.leaves_room_for(grid.block, limits_) &&
           (!has_places_ || sms_[sm].places.has_place(grid.block));
  }
  /// Returns the number of blocks of the grid, up to `most`, that find room beside present blocks
  /// and blocks that return by themselves.
  std::uint32_t room_for(std::uint32_t sm, const DispatchedGrid& grid,
                         const DispatchedGrids& returning, std::uint32_t most) const;
  /// Occupies a block's part of the SM: at `at`, or at the first free place.
  void occupy(std::uint32_t sm, const DispatchedGrid& grid, std::uint64_t block,
              const std::optional<BlockPosition>& at = std::nullopt) {
    occupy(sm, grid.number(), grid.block, block, at);
  }
  /// Returns where the block stands; nothing: places do not matter.
  std::optional<BlockPosition> position_of(std::uint32_t sm, const DispatchedGrid& grid,
                                           std::uint64_t block) const {
    if (!has_places_) return std::nullopt;
    return sms_[sm].places.position_of(grid.number(), block);
  }
  /// Gives the block's part of the SM back. `keeps`: InPlace bits of the resources that it keeps
  /// until it occupies its part again.
  void vacate(std::uint32_t sm, const DispatchedGrid& grid, std::uint64_t block,
              std::uint8_t keeps = 0);
  /// Notes that a block waits at the SM for room.
  void stage(std::uint32_t sm, const DispatchedGrid& grid, std::uint64_t block);
  void unstage(std::uint32_t sm) { set_staged(sm, false); }
  bool is_staged(const BlockReference& block) const;
  /// Starts the block that is staged at the SM, if there is room.  Where places matter, the SM
  /// itself reports the start and the place.
  void start_staged(std::uint32_t sm);
  /// Returns the first SM from `first` on at which no block waits; the number of SMs if there is
  /// none.
  std::uint32_t next_open(std::uint32_t first) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sms_);
    for (std::uint32_t sm = 0; sm < size(); ++sm) set_staged(sm, sms_[sm].has_staged);
  }

 private:
  void occupy(std::uint32_t sm, std::uint32_t grid, const BlockResources& need, std::uint64_t block,
              const std::optional<BlockPosition>& at);
  void set_staged(std::uint32_t sm, bool staged);

  const OccupancyLimits limits_;
  const bool has_places_;
  std::vector<SmMirror> sms_;
  std::vector<std::uint64_t> open_;  ///< one bit per SM: no block waits there for room
};

}  // namespace lockstep
