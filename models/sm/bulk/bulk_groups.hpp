/// Bulk stores of each warp that are under way, by the groups that it has committed.
///
/// PTX counts groups per thread; here a warp has one count for the stores and commits of all its
/// lanes. So a lane may wait for more than its own stores, never for fewer: stores of other lanes
/// join a group that is as old as the lane's own or older, and commits of other lanes only make its
/// groups older.
/// Source: PTX ISA 8.x, "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory/ring.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

class BulkGroups {
 public:
  explicit BulkGroups(std::size_t warps) : warps_(warps) {}

  /// Returns the number of the warp's open group, to which a store is added.  `entry`: number of
  /// the warp's block; stores that an earlier block in the slot has left under way do not count.
  std::uint16_t begin(WarpSlot slot, std::uint32_t entry) {
    OfWarp& warp = of(slot, entry);
    ++warp.open.unread;
    ++warp.open.unwritten;
    return static_cast<std::uint16_t>(warp.first + warp.committed.size());
  }
  /// Notes that shared memory has been read for a store of the group.
  void read(WarpSlot slot, std::uint32_t entry, std::uint16_t group) {
    --of(slot, entry).at(group).unread;
  }
  /// A store of the group has been written.
  void written(WarpSlot slot, std::uint32_t entry, std::uint16_t group) {
    if (warps_[slot.value()].entry == entry) --of(slot, entry).at(group).unwritten;
  }
  void commit(WarpSlot slot, std::uint32_t entry) {
    OfWarp& warp = of(slot, entry);
    warp.drop_ended();
    warp.committed.push(warp.open);
    warp.open = {};
  }
  /// Returns whether no more than the `newest` groups of the warp are under way, or have memory to
  /// read if `reads_only`.
  bool is_through(WarpSlot slot, std::uint32_t entry, std::uint32_t newest, bool reads_only) {
    OfWarp& warp = of(slot, entry);
    const std::size_t count = warp.committed.size();
    for (std::size_t g = 0; g + newest < count; ++g) {
      const Group& group = warp.committed[g];
      if (group.unread != 0 || (!reads_only && group.unwritten != 0)) return false;
    }
    return true;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(warps_);
  }

 private:
  struct Group {
    std::uint32_t unread = 0, unwritten = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(unread, unwritten);
    }
  };
  struct OfWarp {
    Ring<Group> committed{2};  ///< committed groups, the oldest first
    Group open;
    std::uint32_t entry = 0;  ///< number of the block whose groups these are
    std::uint16_t first = 0;  ///< number of the oldest group

    Group& at(std::uint16_t number) {
      const auto place = static_cast<std::uint16_t>(number - first);
      return place < committed.size() ? committed[place] : open;
    }
    void drop_ended() {
      while (!committed.empty() && committed.front().unwritten == 0) {
        committed.pop();
        ++first;
      }
    }
    template <class Archive>
    void serialize(Archive& archive) {
      archive(committed, open, entry, first);
    }
  };

  OfWarp& of(WarpSlot slot, std::uint32_t entry) {
    OfWarp& warp = warps_[slot.value()];
    if (warp.entry != entry) {
      warp = OfWarp{};
      warp.entry = entry;
    }
    return warp;
  }

  std::vector<OfWarp> warps_;
};

}  // namespace lockstep
