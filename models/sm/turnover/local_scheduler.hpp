/// Local scheduler: the SM's scheduler of its own blocks, which decides whose context is on chip
/// and whose is in memory.
///
/// A block leaves when it has a fault that waits behind enough older faults, if another block can
/// take its place: a block in memory whose pages have come, the oldest first, or a new block, as
/// long as not more than `extra_blocks` stand in memory. The leaving block stops; when nothing of
/// it is in flight, its context is saved and its place becomes free. The block can return when all
/// pages that it faulted on have come. A block that stayed because no other block could run is
/// considered again when another block can run. A block that has waited too long in memory
/// displaces the youngest block on chip, which may be waiting for it.
///
/// Blocks make progress however scarce memory is: a returned block stays until its squashed
/// accesses have found their translations, even if they are squashed again because a page has gone
/// meanwhile, and is not displaced before it has been there for `max_wait`. Blocks of clusters
/// leave with all others of their cluster (cluster_departures.hpp), and only for more urgent grids:
/// they do not leave because of faults.
/// Source: 000, section 4.1, Figure 9.
///
/// Simplified: the new block is the one that the dispatcher keeps staged at the SM.  A block that
/// returns to another SM before its pages have come issues its squashed accesses there again, and
/// waits for the pages there.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/sm/block_switching/block_switching.hpp"
#include "models/sm/cluster/cluster_departures.hpp"
#include "models/sm/context/block_contexts.hpp"
#include "models/sm/context/context_engine.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/turnover/block_exchange.hpp"
#include "models/sm/turnover/block_in_memory.hpp"

namespace lockstep {

class LocalScheduler {
 public:
  /// Parts of the SM that a block touches when it leaves or returns.
  struct Parts {
    FrontEnd& front_end;
    FaultableAccesses& faultable;
    L1& l1;
    const LoadStoreUnit& load_store;
    Translation& translation;
    BlockContexts& contexts;
    ContextEngine& engine;
    ClusterBlocks& clusters;
  };
  LocalScheduler(const SmContext& sm, const BlockSwitching& policy, const Parts& parts);

  /// Returns whether blocks may leave; false: no block ever leaves, and nothing below has an
  /// effect.
  bool selected() const { return selected_; }
  /// Returns whether a look may change something.
  bool has_to_look() const {
    return selected() && ((parts_.faultable.stopped_warps() | leaving_ | staying_) != 0 ||
                          !blocks_.empty() || exchange_.owes_homes());
  }
  /// Returns the cycle of the next check; none is due without blocks in memory.
  SmCycle wake() const {
    return blocks_.empty() ? parts_.engine.wake() : std::min(wake_, parts_.engine.wake());
  }

  // Blocks.
  void entered(BlockPlace place, SmCycle now) { entered_[place.value()] = now; }
  void left(BlockPlace place) {
    leaving_ &= ~bit_of(place);
    dropping_ &= ~bit_of(place);
    to_points_ &= ~bit_of(place);
    staying_ &= ~bit_of(place);
    too_large_ &= ~bit_of(place);
    departures_.forget(place);
  }
  /// Gives the SM to another grid: the blocks of the stopped grid make room as `commands` or the
  /// grid's technique say, and do not return until the grid is resumed.
  void stop(std::uint8_t grid, std::span<const BlockCommand> commands, SmCycle now);
  /// Takes a step of the hub in the departure of the block's cluster.  Returns the block if it must
  /// leave for good: its tenant was ended while it waited for the other blocks.
  std::optional<BlockPlace> cluster_moves(const ClusterMove& move, SmCycle now);
  /// Notes that a page has come; BlockInMemory::all_keys: every page.  Returns whether a block
  /// waited for it.
  bool page_came(TlbKey key, SmCycle now);
  /// Checks whether blocks may leave or move, after an event that may let them. `staged`: new
  /// blocks that wait for a place.
  void look(std::size_t staged, SmCycle now);

  struct Moved {
    enum class What : std::uint8_t { saved, returned, dropped };
    What what = What::saved;
    BlockSaved saved;  ///< the block, if it was saved
    BlockDone done;    ///< the block, if it was dropped
  };
  /// Returns a block that has finished moving.  A saved block does not return before told().
  std::optional<Moved> take_moved(SmCycle now);
  /// The dispatcher has heard of the saved block.
  void told() { untold_.reset(); }
  /// Returns the place of a flushed block that must leave and has nothing in flight, if there is
  /// one.
  std::optional<BlockPlace> take_flushed(SmCycle now);
  /// Returns the grid of the block that returns next, if there is room for it.
  std::optional<std::uint8_t> next_to_return() const;
  /// The block that returns next takes a place, and begins to return.
  void begin_return(SmCycle now);
  /// Returns the exchange by which blocks may also return to another SM.
  BlockExchange& exchange() { return exchange_; }
  /// Frees a context's place in memory, which may be this SM's or another's.
  void free_place(std::uint32_t number, SmCycle now);
  /// Returns whether a staged block may start: no block that has waited too long needs the room
  /// first.
  bool may_start(SmCycle now) const;
  /// Drops the tenant's blocks in memory; blocks that move are dropped later, and the others run on
  /// to their end.  Returns the dropped blocks.
  std::vector<BlockDone> drop_tenant(TenantId tenant, SmCycle now);
  bool empty() const { return blocks_.empty(); }
  /// Brings the SM's gauges of blocks in memory up to date.
  void count_blocks() const;
  /// Returns a text such as "2 blocks wait in memory, 1 of them for pages", or "".
  std::string waiting_for() const;

  void serialize(Archive& archive) {
    archive.section("sm/local_scheduler", 8);
    archive(blocks_, departures_, leaving_, dropping_, to_points_, staying_, too_large_, keeps_,
            entered_, stops_, free_numbers_, wake_);
    archive(parts_.engine);
  }

 private:
  using Mask = std::uint64_t;
  static Mask bit_of(BlockPlace place) { return Mask{1} << place.value(); }
  std::size_t count(BlockInMemory::State state) const;
  /// Returns whether one more block may leave, because another one could take its place.
  bool can_leave(std::size_t staged) const;
  /// Lets blocks with far enough faults leave.  Returns the places of blocks with squashed
  /// accesses.
  Mask notice_faults(std::size_t staged, SmCycle now);
  void displace_youngest(Mask squashed, SmCycle now);
  /// Returns the cycle from which the block may be displaced.
  SmCycle displaces_at(BlockPlace place) const {
    return entered_[place.value()] + max_wait_.value();
  }
  Mask on_chip() const { return may_leave(false); }
  Mask may_leave(bool in_clusters) const;
  /// Tells the hub of a block of a cluster that is quiet, once.
  void tell_if_quiet(BlockPlace place, SmCycle now);
  /// The block begins to leave.  `technique`: save or flush.
  void leave(BlockPlace place, Technique technique, SmCycle now);
  StopPlaces stops_at(BlockPlace place) const {
    return (to_points_ & bit_of(place)) != 0 ? StopPlaces::points : StopPlaces::any;
  }
  /// Lets the block make room by the technique, or by another one where it cannot be flushed.
  void make_room(BlockPlace place, Technique technique, SmCycle now, std::uint8_t keeps = 0);
  void count_stop(SmStatistics::OfTenant& counts, BlockPlace place, SmCycle now) const {
    const auto cycles = static_cast<std::uint64_t>(now - stops_[place.value()]);
    counts.block_stop_cycles += cycles;
    counts.block_stops.add(cycles);
  }
  /// Ends the stop of a block.  Returns the cycles for which it has issued nothing, as far as
  /// known.
  std::int64_t end_stop(BlockPlace place, SmCycle now) {
    const bool ran_on = stops_at(place) == StopPlaces::points;
    leaving_ &= ~bit_of(place);
    to_points_ &= ~bit_of(place);
    return ran_on ? 0 : now - stops_[place.value()];
  }
  /// Saves the block, which has nothing in flight.
  void save(BlockPlace place, SmCycle now);
  bool can_return(const BlockInMemory& block) const {
    return block.can_return() && (block.sent || !sm_.blocks.grid(block.grid).stopped);
  }
  bool is_overdue(const BlockInMemory& block, SmCycle now) const;
  /// Returns the block that returns next.
  std::vector<BlockInMemory>::const_iterator first_ready() const;
  void set_wake(SmCycle now);
  /// Ends the protected stay of returned blocks whose squashed accesses are all done.
  void end_stays(SmCycle now);

  const bool selected_;
  const SmContext sm_;
  const BlockSwitching& policy_;
  const Parts parts_;
  BlockExchange exchange_;
  ClusterDepartures departures_;
  const std::uint32_t extra_;
  const SmCycle max_wait_;

  std::vector<BlockInMemory> blocks_;  ///< blocks in the order in which they began to leave
  Mask leaving_ = 0;                   ///< places of blocks that stop
  Mask dropping_ = 0;                  ///< places of leaving blocks that are flushed
  Mask to_points_ = 0;  ///< places of leaving blocks that go on until a preemption point
  Mask staying_ = 0;    ///< places of returned blocks, until FaultableAccesses::owes is false
  Mask too_large_ = 0;  ///< places of blocks whose context has no room in memory
  std::array<std::uint8_t, 64> keeps_{};     ///< InPlace bits of each place's stopping block
  std::array<SmCycle, 64> entered_{};        ///< cycle in which the block of each place entered
  std::array<SmCycle, 64> stops_{};          ///< cycle since which the block of each place stops
  std::vector<std::uint32_t> free_numbers_;  ///< numbers of free places in the context area
  SmCycle wake_ = no_cycle;  ///< next cycle with something to do apart from the context engine
  /// Context place not yet told to the dispatcher, within a cycle.
  std::optional<std::uint32_t> untold_;
};

}  // namespace lockstep
