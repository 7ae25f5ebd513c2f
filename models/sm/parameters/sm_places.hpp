/// Places of the registers and the shared memory of an SM's thread blocks, and the blocks that
/// stand in the way of a preempting kernel.
///
/// SmPlaces is an allocation table: what a block has is contiguous.  Aligned, block places of a
/// kernel lie at multiples of what its blocks need, so that leaving blocks make room without gaps;
/// packed, a block takes the first gap that is large enough.  The dispatcher has a table for each
/// SM and says where a block goes for which there is a place.  The SM places blocks that wait there
/// or return, and tells the dispatcher.  Candidate i of a preempting kernel are the blocks that
/// overlap its place i in either resource.
/// Source: 002, section III.A (tables); 003, sections 3.2 and 3.3.1, Figures 3.1 to 3.3, 3.8 and
/// 3.9; preemption.md, sections 3.1, 6 and 7.1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/sm/parameters/placement.hpp"

namespace lockstep {

/// [begin, begin + size) of a resource.
struct ResourceRange {
  std::uint32_t begin = 0, size = 0;

  bool overlaps(const ResourceRange& other) const {
    return begin < other.begin + other.size && other.begin < begin + size;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(begin, size);
  }
};

/// A thread block's part of an SM.
struct BlockRoom {
  std::uint32_t grid = 0;
  std::uint64_t block = 0;
  ResourceRange registers, shared;
  bool away = false;  ///< the block is saved and has left these resources here

  bool overlaps(const BlockRoom& other) const {
    return registers.overlaps(other.registers) || shared.overlaps(other.shared);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, block, registers, shared, away);
  }
};

class SmPlaces {
 public:
  SmPlaces() = default;
  SmPlaces(const OccupancyLimits& limits, Placement placement)
      : registers_(limits.registers),
        shared_bytes_(limits.shared_bytes),
        blocks_(limits.blocks),
        placement_(placement) {}

  /// Returns false if there are no places, only sums.
  bool matter() const { return placement_ != Placement::summed; }
  /// Returns whether a block of such needs would find a place.
  bool has_place(const BlockResources& need) const { return find(need).has_value(); }
  /// Returns whether the place is free for a block of such needs.
  bool is_free(const BlockPosition& at, const BlockResources& need) const {
    return is_free(room_at(at, need));
  }
  /// Gives the block the place `at`, or the first free place. A block without a place is in no
  /// candidate's way: it ends at once.
  void enter(std::uint32_t grid, std::uint64_t block, const BlockResources& need,
             const std::optional<BlockPosition>& at = std::nullopt);
  /// Returns the position of a block that has entered.
  BlockPosition position_of(std::uint32_t grid, std::uint64_t block) const;
  /// Removes the block.  `keeps`: InPlace bits of the resources that it keeps until it enters
  /// again.
  void leave(std::uint32_t grid, std::uint64_t block, std::uint8_t keeps = 0);
  /// Returns the resources that a block keeps here while it is away.
  BlockResources kept(std::uint32_t grid, std::uint64_t block) const;
  /// Returns the grid whose saved blocks have left state on this SM, if there is one.
  std::optional<std::uint32_t> keeper() const;
  /// Returns the rooms of the grid's blocks that are on chip.
  std::vector<BlockRoom> rooms_of(std::uint32_t grid) const;

  /// Returns how many places the SM has for blocks of these needs when it is empty.
  std::uint32_t places_for(const BlockResources& need) const;
  /// Returns the blocks of the grid that stand in the way at place i; nothing: blocks of other
  /// grids, which stay, are in the way, too.
  std::optional<std::vector<std::uint64_t>> candidate(std::uint32_t i, const BlockResources& need,
                                                      std::uint32_t grid) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(rooms_);
  }

 private:
  static BlockRoom room_at(const BlockPosition& at, const BlockResources& need) {
    return {0, 0, {at.registers, need.registers}, {at.shared_bytes, need.shared_bytes}};
  }
  static BlockRoom place(std::uint32_t i, const BlockResources& need);
  std::optional<BlockRoom> find(const BlockResources& need) const;
  std::optional<BlockRoom> find_gap(const BlockResources& need) const;
  bool is_free(const BlockRoom& room) const;
  BlockRoom* find_away(std::uint32_t grid, std::uint64_t block);

  std::uint32_t registers_ = 0, shared_bytes_ = 0, blocks_ = 0;
  Placement placement_ = Placement::summed;
  std::vector<BlockRoom> rooms_;
};

}  // namespace lockstep
