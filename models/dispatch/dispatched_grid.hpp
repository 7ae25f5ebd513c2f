#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"
#include "core/time/time.hpp"
#include "models/dispatch/saved_clusters.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/noc/ids.hpp"
#include "models/sm/parameters/occupancy.hpp"

namespace lockstep {

/// A block that was sent to an SM and is to go out again.
struct ReturnedBlock {
  std::uint64_t block = 0;
  bool was_flushed = false;  ///< true: the block was flushed; false: it had not started

  template <class Archive>
  void serialize(Archive& archive) {
    archive(block, was_flushed);
  }
};

/// A grid at the dispatcher, until its blocks are done.
struct DispatchedGrid {
  GridLaunch launch;
  std::vector<std::byte> payload;
  BlockResources block;
  std::uint64_t block_share = 0;  ///< value of GridView::block_share
  Time ready;
  std::uint64_t blocks = 0;  ///< blocks to be done: all, or those sent before the tenant was ended
  std::uint64_t next_block = 0, running = 0, done = 0;
  std::uint32_t draining = 0;  ///< SMs without blocks of the grid that still have stores of it
  std::uint64_t launched_before = 0;  ///< grids that the tenant has launched before
  InstructionCount executed;
  bool aborted = false;      ///< the tenant was ended
  bool cooperative = false;  ///< blocks wait for each other and start together (gangs.hpp)
  /// Places that each SM keeps for the grid's blocks while these start.
  std::vector<std::uint32_t> reserved;
  std::vector<bool> known_at;           ///< SMs to which start_grid was sent
  std::deque<ReturnedBlock> returned;   ///< blocks that go out before those that never did
  std::vector<bool> stopped_at;         ///< SMs taken from the grid
  std::vector<std::uint32_t> away;      ///< blocks whose contexts each SM keeps in memory
  std::uint64_t all_away = 0;           ///< the sum of `away`
  std::vector<bool> asked;              ///< SMs asked to give a saved block away
  std::uint32_t all_asked = 0;          ///< number of SMs in `asked`
  std::vector<bool> keeps;              ///< SMs that could not give a saved block away
  std::vector<std::uint32_t> arriving;  ///< saved blocks on their way back to each SM
  std::vector<bool> served;  ///< SMs that have given this grid its part, where SMs are shared
  std::deque<BlockInHand> in_hand;
  SavedClusters saved_clusters;
  std::uint64_t coming_back = 0;      ///< blocks of saved clusters on their way back to SMs
  std::vector<std::uint64_t> latest;  ///< last block of the grid that was sent to each SM
  /// Blocks that have returned to an SM and have not got on yet.
  std::vector<std::uint64_t> settling;
  std::uint64_t let_go = 0;  ///< blocks that let the next grid begin, or have ended
  bool is_held = false;      ///< the grid before has not let this one begin
  bool depends = false;      ///< the grid before has not ended

  std::uint32_t number() const { return launch.grid; }
  /// Returns the number of blocks that start together in one GPC; 1: no clusters.
  std::uint32_t cluster_blocks() const { return launch.cluster_blocks(); }
  bool is_over() const { return done == blocks && draining == 0 && !depends; }
  bool has_let_go() const { return let_go >= blocks; }
  /// Returns the number of blocks that must go out, including saved blocks of clusters, which also
  /// run.
  std::uint64_t waiting() const {
    return blocks - next_block + returned.size() + saved_clusters.blocks();
  }
  /// Returns whether the grid's blocks are to start together, and none has.
  bool is_to_gather() const { return cooperative && next_block == 0 && blocks > 0; }
  /// Returns whether the grid's blocks start together: some have, some have not.
  bool is_gathering() const { return cooperative && next_block > 0 && next_block < blocks; }
  /// Returns a busy SM that may give away a saved block, if there is one.
  std::optional<std::uint32_t> sm_to_ask() const {
    if (all_away == 0) return std::nullopt;
    for (std::uint32_t sm = 0; sm < away.size(); ++sm)
      if (away[sm] > arriving[sm] && stopped_at[sm] && !asked[sm] && !keeps[sm]) return sm;
    return std::nullopt;
  }
  /// Notes that a block's context is in memory, in the SM's care; comes_back() ends that care.
  void goes_away(std::uint32_t sm) {
    ++away[sm];
    ++all_away;
  }
  void comes_back(std::uint32_t sm) {
    --away[sm];
    --all_away;
    arriving[sm] = std::min(arriving[sm], away[sm]);
  }
  /// Returns how many blocks return to the SM without being asked.
  std::uint32_t returning_to(std::uint32_t sm) const {
    return stopped_at[sm] ? arriving[sm] : away[sm];
  }
  /// Returns whether saved blocks are to return before others go out.
  bool is_bringing_back() const { return !in_hand.empty() || all_asked > 0; }
  /// Notes that an SM is asked to give a saved block away, and what came of it.
  void ask(std::uint32_t sm) {
    asked[sm] = true;
    ++all_asked;
  }
  void has_answered(std::uint32_t sm) {
    if (asked[sm]) --all_asked;
    asked[sm] = false;
  }
  /// Tells an SM of the grid, before the grid's first block.
  void introduce_at(std::uint32_t sm, Link& link, Time now, Outbox& outbox) {
    if (known_at[sm]) return;
    known_at[sm] = true;
    GridLaunch told = launch;
    if (!depends) told.primary = 0;
    outbox.send(link, now, kind_of(MessageKind::start_grid), told, payload);
  }
  /// Returns whether no block at the SM may wait for the next block to go out: that block was not
  /// flushed, and it is later than all of them.
  bool follows_all_at(std::uint32_t sm) const {
    return returned.empty() ||
           (!returned.front().was_flushed && returned.front().block >= latest[sm]);
  }
  void goes_to(std::uint32_t sm, std::uint64_t which) { latest[sm] = std::max(latest[sm], which); }
  std::uint64_t take_next() {
    if (returned.empty()) return next_block++;
    const std::uint64_t next = returned.front().block;
    returned.pop_front();
    return next;
  }

  /// Returns the first cluster whose blocks must all start again, if there is one.
  std::optional<std::uint64_t> first_flushed_cluster() const;
  /// Lets the blocks of a flushed cluster start again.
  void take_flushed_cluster(std::uint64_t cluster);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(launch, payload, block, block_share, ready, blocks, next_block, running, done, draining,
            launched_before, executed, aborted, cooperative, reserved, known_at, returned,
            stopped_at, away, all_away, asked, keeps, arriving, served, latest, in_hand,
            saved_clusters, coming_back, settling, let_go, is_held, depends);
    all_asked = static_cast<std::uint32_t>(std::count(asked.begin(), asked.end(), true));
  }
};

/// Grids that are not finished, in order of arrival.
class DispatchedGrids : public std::deque<DispatchedGrid> {
 public:
  /// Returns the grid; end(): the grid is not known any more.
  iterator find(std::uint32_t number) {
    return std::find_if(begin(), end(),
                        [&](const DispatchedGrid& grid) { return grid.number() == number; });
  }
  iterator at(std::uint32_t number) {
    const iterator grid = find(number);
    LOCKSTEP_CHECK(grid != end(), "a message names an unknown grid");
    return grid;
  }
};

}  // namespace lockstep
