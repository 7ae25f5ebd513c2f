/// Work that warps have under way: loads without their answers, stores and atomics without their
/// acknowledgements, asynchronous copies.
///
/// Only UnderWay counts this work.  The parts of the SM tell it when work begins and ends, and ask
/// it what a warp, a block or a grid still waits for.  A store counts for its warp (a release and
/// the warp's end wait for it), for its block (before the last barrier, or since), and, when the
/// block has left, for its grid.
/// Source: architecture.md, section 8, rules 4 and 5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/warm.hpp"
#include "models/noc/ids.hpp"
#include "models/sm/async_copy/copy_groups.hpp"
#include "models/sm/blocks/warp_set.hpp"

namespace lockstep {

class UnderWay {
 public:
  UnderWay(std::size_t warps, std::size_t blocks) : copies_(warps), blocks_(blocks) {}

  // Grids, blocks and warps that begin and end.
  void grid_begins(std::uint8_t grid) {
    if (grid < left_.size()) left_[grid] = 0;
  }
  void block_enters(BlockPlace place) { blocks_[place.value()] = {}; }
  void warp_enters(WarpSlot slot) { warps_[slot.value()] = {}; }
  /// Moves the stores of a leaving block to its grid.  Returns whether the grid had none before and
  /// has some now.
  bool block_leaves(BlockPlace place, std::uint8_t grid) {
    const std::uint32_t left = stores(place);
    if (left_.size() <= grid) left_.resize(std::size_t{grid} + 1);
    const bool first = left_[grid] == 0 && left > 0;
    left_[grid] += left;
    return first;
  }

  // Loads, and atomics that return a value.
  void flight_begins(WarpSlot slot) { ++warps_[slot.value()].flights; }
  /// Returns whether the warp has none left.
  bool flight_ends(WarpSlot slot) { return --warps_[slot.value()].flights == 0; }
  std::uint32_t flights(WarpSlot slot) const { return warps_[slot.value()].flights; }

  // Stores and atomics, by lines.
  void stores_begin(WarpSlot slot, BlockPlace place, std::uint32_t count) {
    OfWarp& warp = warps_[slot.value()];
    warp.stores = static_cast<std::uint16_t>(warp.stores + count);
    warp.unsent = static_cast<std::uint16_t>(warp.unsent + count);
    blocks_[place.value()].fresh += count;
  }
  /// A store of the warp leaves the SM.
  void store_is_sent(WarpSlot slot) { --warps_[slot.value()].unsent; }
  /// Drops `count` stores that have not left the SM and never will.  `phase`: phase of the block
  /// when they began.
  void stores_are_dropped(WarpSlot slot, BlockPlace place, std::uint32_t phase,
                          std::uint32_t count) {
    OfWarp& warp = warps_[slot.value()];
    warp.stores = static_cast<std::uint16_t>(warp.stores - count);
    warp.unsent = static_cast<std::uint16_t>(warp.unsent - count);
    blocks_[place.value()].of(phase) -= count;
  }
  /// A store of the warp has been acknowledged.  Returns whether the warp has none left.
  bool store_ends(WarpSlot slot, BlockPlace place, std::uint32_t phase) {
    --blocks_[place.value()].of(phase);
    return --warps_[slot.value()].stores == 0;
  }
  /// Counts the acknowledgement of a store whose block has left.  Returns whether it was the last
  /// such store of the grid.
  bool left_store_ends(std::uint8_t grid) { return --left_[grid] == 0; }
  /// Orders the block's stores so far before the later accesses of its warps, at a barrier.
  void order_stores(BlockPlace place) {
    OfBlock& block = blocks_[place.value()];
    block.ordered += block.fresh;
    block.fresh = 0;
    ++block.phase;
  }
  /// Returns the number of barriers that the block has passed; a block that returns goes on
  /// counting.
  std::uint32_t& phase(BlockPlace place) { return blocks_[place.value()].phase; }
  std::uint32_t stores(WarpSlot slot) const { return warps_[slot.value()].stores; }
  /// Stores of the warp that have not left the SM.
  std::uint32_t unsent_stores(WarpSlot slot) const { return warps_[slot.value()].unsent; }
  std::uint32_t stores(BlockPlace place) const {
    return blocks_[place.value()].ordered + blocks_[place.value()].fresh;
  }
  /// Returns the number of stores that a barrier orders before the block's next accesses.
  std::uint32_t ordered_stores(BlockPlace place) const { return blocks_[place.value()].ordered; }
  /// Returns whether everything that a release by the warp must wait for is acknowledged.
  bool is_released(WarpSlot slot, BlockPlace place) const {
    return warps_[slot.value()].stores == 0 && blocks_[place.value()].ordered == 0;
  }

  /// Asynchronous copies, by the groups that each warp has committed.
  CopyGroups& copies() { return copies_; }

  void warm_warps() const { warm(&warps_, sizeof warps_); }
  /// Fetches into the cache the counts that a memory instruction of the block will touch.
  void warm_block(BlockPlace place) const { warm(&blocks_[place.value()].phase); }
  void serialize(Archive& archive) {
    archive.section("sm/under_way", 1);
    archive(warps_, blocks_, left_, copies_);
  }

 private:
  struct OfWarp {
    std::uint16_t flights = 0, stores = 0, unsent = 0;

    template <class A>
    void serialize(A& archive) {
      archive(flights, stores, unsent);
    }
  };
  struct OfBlock {
    std::uint32_t ordered = 0, fresh = 0;  ///< stores issued before the last barrier, and since
    std::uint32_t phase = 0;

    std::uint32_t& of(std::uint32_t issued_in) { return issued_in == phase ? fresh : ordered; }
    template <class A>
    void serialize(A& archive) {
      archive(ordered, fresh, phase);
    }
  };

  std::array<OfWarp, 64> warps_{};
  CopyGroups copies_;
  std::vector<OfBlock> blocks_;
  std::vector<std::uint32_t>
      left_;  ///< pending stores of blocks that have left, by place of their grid
};

}  // namespace lockstep
