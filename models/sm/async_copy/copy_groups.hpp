/// Asynchronous copies of each warp that are under way, by the groups that it has committed.
///
/// PTX counts groups per thread.  Here a warp has one count as long as all its lanes commit
/// together; after a commit of only some lanes, every wait is for all copies, until none is left.
/// Source: PTX ISA 8.x, "cp.async.commit_group", "cp.async.wait_group"; modern-isa.md, section 3.1.
///
/// An action behind all copies so far (cp.async.mbarrier.arrive) cuts the open group in two.
///
/// Simplified: such a wait may take a little longer than PTX asks for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/ring.hpp"
#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

class CopyGroups {
 public:
  explicit CopyGroups(std::size_t warps) : warps_(warps) {}

  /// Returns the number of the warp's open group, to which a copy is added.
  std::uint16_t begin(WarpSlot slot) {
    OfWarp& warp = of(slot);
    ++warp.open.outstanding;
    return static_cast<std::uint16_t>(warp.first + warp.committed.size());
  }
  /// Adds a copy of a block that has returned to the SM; the group of the copy is unknown.
  std::uint16_t begin_again(WarpSlot slot) {
    of(slot).mixed = true;
    return begin(slot);
  }
  /// Notes that a copy has written its bytes, which can be used from `ready` on.
  void end(WarpSlot slot, std::uint16_t group, SmCycle ready) {
    OfWarp& warp = of(slot);
    const auto place = static_cast<std::uint16_t>(group - warp.first);
    Group& ended = place < warp.committed.size() ? warp.committed[place] : warp.open;
    --ended.outstanding;
    ended.ready = std::max(ended.ready, ready);
  }
  /// `together`: all lanes of the warp that have not ended.
  void commit(WarpSlot slot, bool together, SmCycle now) {
    OfWarp& warp = of(slot);
    if (!together) warp.mixed = true;
    warp.open.ends_group = true;
    warp.close();
    warp.drop_ended(now);
  }
  /// Returns a number that stands for the copies that the warp has begun by now; through_before()
  /// takes it.
  std::uint16_t mark(WarpSlot slot, SmCycle now) {
    OfWarp& warp = of(slot);
    if (warp.open.outstanding != 0 || warp.open.ready > now) warp.close();
    return static_cast<std::uint16_t>(warp.first + warp.committed.size());
  }
  /// Returns the cycle from which the copies before the mark are through; no_cycle: not known yet.
  SmCycle through_before(WarpSlot slot, std::uint16_t mark, SmCycle now) {
    OfWarp& warp = of(slot);
    warp.drop_ended(now);
    const auto left = static_cast<std::int16_t>(mark - warp.first);
    return warp.through(left > 0 ? static_cast<std::size_t>(left) : 0, now);
  }
  /// Returns the cycle from which all but the warp's `newest` committed groups, or all copies if
  /// `uncommitted_too`, are through; no_cycle: not known yet.
  SmCycle through(WarpSlot slot, std::uint32_t newest, bool uncommitted_too, SmCycle now) {
    OfWarp& warp = of(slot);
    warp.drop_ended(now);
    const bool all = uncommitted_too || warp.mixed;
    std::size_t asked = warp.committed.size();
    if (!all)
      for (std::uint32_t left = newest + 1; asked > 0; --asked)
        if (warp.committed[asked - 1].ends_group && --left == 0) break;
    const SmCycle ready = warp.through(asked, now);
    if (!all || ready == no_cycle) return ready;
    return warp.open.outstanding != 0 ? no_cycle : std::max(ready, warp.open.ready);
  }

  void serialize(Archive& archive) {
    archive.section("sm/copy_groups", 2);
    archive(warps_);
  }

 private:
  struct Group {
    SmCycle ready;  ///< cycle from which all copies so far can be used
    std::uint32_t outstanding = 0;
    bool ends_group = false;  ///< false: the next entry belongs to the same group

    template <class A>
    void serialize(A& archive) {
      archive(ready, outstanding, ends_group);
    }
  };
  struct OfWarp {
    /// Committed groups, the oldest first, and closed parts of the open one.
    Ring<Group> committed{2};
    Group open;
    std::uint16_t first = 0;  ///< number of the oldest group
    bool mixed = false;       ///< true: groups do not tell what is under way

    void close() {
      committed.push(open);
      open = {};
    }
    /// Returns the cycle from which on the oldest `count` copies are through.
    SmCycle through(std::size_t count, SmCycle now) const {
      SmCycle ready = now;
      for (std::size_t g = 0; g < std::min(count, committed.size()); ++g) {
        if (committed[g].outstanding != 0) return no_cycle;
        ready = std::max(ready, committed[g].ready);
      }
      return ready;
    }
    /// Drops the oldest groups, whose copies are all through.
    void drop_ended(SmCycle now) {
      while (!committed.empty() && committed.front().outstanding == 0 &&
             committed.front().ready <= now) {
        committed.pop();
        ++first;
      }
      if (committed.empty() && open.outstanding == 0) mixed = false;
    }
    template <class A>
    void serialize(A& archive) {
      archive(committed, open, first, mixed);
    }
  };

  OfWarp& of(WarpSlot slot) { return warps_[slot.value()]; }

  std::vector<OfWarp> warps_;
};

}  // namespace lockstep
