/// Which asynchronous copies of each warp are under way, by the groups that it has committed.
///
/// PTX counts groups per thread.  Here a warp has one count as long as all its lanes commit
/// together; after a commit of some of them alone every wait is for all copies, until none is left.
/// Source: PTX ISA 8.x, "cp.async.commit_group", "cp.async.wait_group"; modern-isa.md, section 3.1.
///
/// Simplified: waiting for more copies than asked is what a lane may see that waits a little
/// longer.
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
  /// A copy of a block that has returned to the SM: nobody knows its group.
  std::uint16_t begin_again(WarpSlot slot) {
    of(slot).mixed = true;
    return begin(slot);
  }
  /// A copy has written its bytes, to be used from `ready` on.
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
    warp.committed.push(warp.open);
    warp.open = {};
    warp.drop_ended(now);
  }
  /// Returns the cycle from which on all but the warp's `newest` committed groups, or all copies if
  /// `uncommitted_too`, are through; no_cycle: it is not known yet.
  SmCycle through(WarpSlot slot, std::uint32_t newest, bool uncommitted_too, SmCycle now) {
    OfWarp& warp = of(slot);
    warp.drop_ended(now);
    const std::size_t count = warp.committed.size();
    const std::size_t asked = warp.mixed ? count : count - std::min<std::size_t>(newest, count);
    SmCycle ready = now;
    for (std::size_t g = 0; g < asked; ++g) {
      if (warp.committed[g].outstanding != 0) return no_cycle;
      ready = std::max(ready, warp.committed[g].ready);
    }
    if (uncommitted_too || warp.mixed) {
      if (warp.open.outstanding != 0) return no_cycle;
      ready = std::max(ready, warp.open.ready);
    }
    return ready;
  }

  void serialize(Archive& archive) {
    archive.section("sm/copy_groups", 1);
    archive(warps_);
  }

 private:
  struct Group {
    SmCycle ready;  ///< cycle from which on all of its copies so far can be used
    std::uint32_t outstanding = 0;

    template <class A>
    void serialize(A& archive) {
      archive(ready, outstanding);
    }
  };
  struct OfWarp {
    Ring<Group> committed{2};  ///< oldest first
    Group open;
    std::uint16_t first = 0;  ///< number of the oldest committed group, or of the open one
    bool mixed = false;       ///< groups do not tell what is under way

    /// Groups that nobody needs to wait for.
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
