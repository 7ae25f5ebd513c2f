/// Watch over the warps of an SM: do they get on?  A warp that only waits for somebody comes back
/// to registers that it had before.
///
/// Now and then the watch looks at the registers and predicates of each warp, and at the shared
/// memory of its block.  A warp has got on if they are unlike everything that was seen of them
/// lately.  A warp that polls a word has few states, those of its loop; a warp that counts,
/// computes or follows pointers has new ones each time.  The watch does not look at blocks that
/// have just come, since the next ones will tell as much, by their ends.
///
/// A block is known by its grid and its index, so that a block that leaves for memory and returns
/// is not taken for a new one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/isa/recent_states.hpp"
#include "models/noc/progress.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class WarpWatch {
 public:
  explicit WarpWatch(const SmContext& sm);

  /// Adds up the instructions that tenants have executed here since the last call. The statistics
  /// must be up to date.
  void take(Time now, std::span<std::uint8_t> tenants);
  void serialize(Archive& archive);

 private:
  struct Block {
    Time came, seen;
    std::vector<isa::RecentStates>
        states;  ///< state of shared memory, then of the warps; empty: not looked at yet
    template <class Archive>
    void serialize(Archive& archive) {
      archive(came, seen, states);
    }
  };
  struct Counted {
    std::uint64_t issued = 0, active_cycles = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(issued, active_cycles);
    }
  };

  void count(std::span<std::uint8_t> tenants);
  void look(Time now, std::span<std::uint8_t> tenants);
  bool gets_on(BlockPlace place, Block& block);
  std::uint64_t state_of(const Warp& warp) const;

  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  const Time limit_;
  const Time period_;  ///< time between two looks
  std::int64_t looks_ = 0;
  std::vector<Counted> counted_;                                    ///< counts of each tenant
  std::map<std::pair<std::uint64_t, std::uint64_t>, Block> known_;  ///< blocks by grid and index
};

}  // namespace lockstep
