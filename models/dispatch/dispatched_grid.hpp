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
  bool was_flushed = false;  ///< else it had not started

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
  std::uint64_t block_share = 0;  ///< GridView::block_share
  Time ready;
  std::uint64_t blocks = 0;  ///< blocks to be done: all, or those sent before its tenant was ended
  std::uint64_t next_block = 0, running = 0, done = 0;
  std::uint32_t draining = 0;         ///< SMs that have stores of its blocks, but not these
  std::uint64_t launched_before = 0;  ///< grids that its tenant has launched before
  InstructionCount executed;
  bool aborted = false;      ///< its tenant was ended
  bool cooperative = false;  ///< its blocks wait for each other: they start together (gangs.hpp)
  std::vector<std::uint32_t> reserved;  ///< by SM: places for its blocks, while these start
  std::vector<bool> known_at;           ///< by SM: start_grid was sent
  std::deque<ReturnedBlock> returned;   ///< blocks that go out before those that never did
  std::vector<bool> stopped_at;         ///< by SM: it was taken from the grid
  std::vector<std::uint32_t> away;      ///< by SM: blocks whose contexts it keeps in memory
  std::uint64_t all_away = 0;           ///< the sum of `away`
  std::vector<bool> asked;              ///< by SM: asked to give a saved block away
  std::vector<bool> keeps;              ///< by SM: it could not give one away
  std::vector<std::uint32_t> arriving;  ///< by SM: blocks sent there to return, of those away
  std::vector<bool> served;  ///< by SM: it has given this grid its part, if SMs are shared
  std::deque<BlockInHand> in_hand;
  SavedClusters saved_clusters;
  std::uint64_t coming_back = 0;        ///< blocks of clusters that are on their way to SMs
  std::vector<std::uint64_t> latest;    ///< by SM: the last of its blocks that was sent there
  std::vector<std::uint64_t> settling;  ///< blocks that have returned to an SM, until they get on
  std::uint64_t let_go = 0;             ///< blocks that let the next grid begin, or have ended
  bool is_held = false;                 ///< until the grid before it lets it begin
  bool depends = false;                 ///< the grid before it has not ended

  std::uint32_t number() const { return launch.grid; }
  /// Returns how many blocks start together, in one GPC; 1: its blocks are in no clusters.
  std::uint32_t cluster_blocks() const { return launch.cluster_blocks(); }
  bool is_over() const { return done == blocks && draining == 0 && !depends; }
  bool has_let_go() const { return let_go >= blocks; }
  /// Returns how many blocks are to go out, saved ones of clusters among them, which also run.
  std::uint64_t waiting() const {
    return blocks - next_block + returned.size() + saved_clusters.blocks();
  }
  /// Returns whether the grid's blocks are to start together, and none has.
  bool is_to_gather() const { return cooperative && next_block == 0 && blocks > 0; }
  /// Returns whether the grid's blocks start together: some have, some have not.
  bool is_gathering() const { return cooperative && next_block > 0 && next_block < blocks; }
  /// Returns a busy SM that may give a saved block away, if there is one.
  std::optional<std::uint32_t> sm_to_ask() const {
    if (all_away == 0) return std::nullopt;
    for (std::uint32_t sm = 0; sm < away.size(); ++sm)
      if (away[sm] > arriving[sm] && stopped_at[sm] && !asked[sm] && !keeps[sm]) return sm;
    return std::nullopt;
  }
  /// A block's context is in memory from now on, in the SM's care; comes_back() says that it leaves
  /// the SM's care.
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
  bool is_bringing_back() const {
    return !in_hand.empty() || std::find(asked.begin(), asked.end(), true) != asked.end();
  }
  /// Tells an SM of the grid, before the grid's first block.
  void introduce_at(std::uint32_t sm, Link& link, Time now, Outbox& outbox) {
    if (known_at[sm]) return;
    known_at[sm] = true;
    GridLaunch told = launch;
    if (!depends) told.primary = 0;
    outbox.send(link, now, kind_of(MessageKind::start_grid), told, payload);
  }
  /// Returns whether no block that was sent to the SM may wait for the next block to go out: that
  /// block was not flushed, and is not earlier than any of them.
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

  /// Returns the first cluster all of whose blocks are to start again, if there is one.
  std::optional<std::uint64_t> first_flushed_cluster() const;
  /// The blocks of the cluster start again.
  void take_flushed_cluster(std::uint64_t cluster);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(launch, payload, block, block_share, ready, blocks, next_block, running, done, draining,
            launched_before, executed, aborted, cooperative, reserved, known_at, returned,
            stopped_at, away, all_away, asked, keeps, arriving, served, latest, in_hand,
            saved_clusters, coming_back, settling, let_go, is_held, depends);
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
