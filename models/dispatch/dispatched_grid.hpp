#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "core/error/error.hpp"
#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/occupancy.hpp"

namespace lockstep {

/// A grid at the dispatcher, until its blocks are done.
struct DispatchedGrid {
  GridLaunch launch;
  std::vector<std::byte> payload;
  BlockResources block;
  Time ready;
  std::uint64_t blocks = 0;  ///< to be done: all, or those sent before its tenant was ended
  std::uint64_t next_block = 0, running = 0, done = 0;
  InstructionCount executed;
  bool aborted = false;                ///< its tenant was ended
  std::vector<bool> known_at;          ///< by SM: start_grid was sent
  std::deque<std::uint64_t> returned;  ///< blocks that are to go out again
  std::vector<bool> stopped_at;        ///< by SM: it was taken from the grid
  std::vector<std::uint32_t> away;     ///< by SM: blocks whose contexts it keeps in memory

  std::uint32_t number() const { return launch.grid; }
  std::uint64_t waiting() const { return blocks - next_block + returned.size(); }
  std::uint64_t take_next() {
    if (returned.empty()) return next_block++;
    const std::uint64_t next = returned.front();
    returned.pop_front();
    return next;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(launch, payload, block, ready, blocks, next_block, running, done, executed, aborted,
            known_at, returned, stopped_at, away);
  }
};

/// Those that are not finished, in order of arrival.
class DispatchedGrids : public std::deque<DispatchedGrid> {
 public:
  /// end(): it is not known any more.
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
