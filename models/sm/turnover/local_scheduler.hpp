/// The SM's scheduler of its own blocks: who is on chip, whose context stands in memory.
///
/// A block with a fault far enough behind leaves, if another one can take its place: one whose
/// pages have come, the oldest first, or a new one, as long as not more than `extra_blocks` stand
/// in memory.  It stops, nothing of it may be in flight, its context is saved, its place is free.
/// It can return when all pages that it faulted on have come.  A fault that found nothing to run is
/// looked at again when something is there.  One that has waited too long displaces the youngest
/// block on chip, which may wait for it.
///
/// So that blocks get on however little memory there is: one that has returned stays until what it
/// was squashed for before is through - also if that is squashed again, since a page has gone
/// meanwhile -, and is not displaced before it has been there for `max_wait`.
/// Source: 000, section 4.1, Figure 9.
///
/// Simplified: the new block is the one that the dispatcher keeps staged at the SM; one that waits
/// for pages and returns to another SM issues there again, to wait for them, what it was squashed
/// for.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/sm/block_switching/block_switching.hpp"
#include "models/sm/context/block_contexts.hpp"
#include "models/sm/context/context_engine.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/turnover/block_exchange.hpp"
#include "models/sm/turnover/block_in_memory.hpp"

namespace lockstep {

class LocalScheduler {
 public:
  /// The parts that a block's leaving and returning touches.
  struct Parts {
    FrontEnd& front_end;
    FaultableAccesses& faultable;
    L1& l1;
    const LoadStoreUnit& load_store;
    Translation& translation;
    BlockContexts& contexts;
    ContextEngine& engine;
  };
  LocalScheduler(const SmContext& sm, const BlockSwitching& policy, const Parts& parts);

  /// False: no block ever leaves, and nothing below has an effect.
  bool selected() const { return sm_.constants.blocks_leave(); }
  /// A look may change something.
  bool has_to_look() const {
    return selected() && ((parts_.faultable.stopped_warps() | leaving_ | staying_) != 0 ||
                          !blocks_.empty() || exchange_.owes_homes());
  }
  /// Without blocks in memory there is nobody to displace one for, whatever was to come before.
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
  }
  /// Another grid gets the SM: the blocks of this one make room as they are told, and do not return
  /// until it is resumed.
  void stop(std::uint8_t grid, std::span<const BlockCommand> commands, SmCycle now);
  /// A page has come, or BlockInMemory::all_keys; whether a block waited for it.
  bool page_came(TlbKey key, SmCycle now);
  /// Something has happened; so many new blocks wait for a place.
  void look(std::size_t staged, SmCycle now);

  struct Moved {
    enum class What : std::uint8_t { saved, returned, dropped };
    What what = What::saved;
    BlockSaved saved;  ///< one that was
    BlockDone done;    ///< one that was dropped
  };
  /// A block that has finished moving.  One that was saved does not return before told().
  std::optional<Moved> take_moved(SmCycle now);
  /// The dispatcher has heard of it.
  void told() { untold_.reset(); }
  /// A block that is flushed: nothing of it is in flight, and it is to leave its place.
  std::optional<BlockPlace> take_flushed(SmCycle now);
  /// The grid of the block that returns next, if there is room for it.
  std::optional<std::uint8_t> next_to_return() const;
  /// It takes a place, and returns.
  void begin_return(SmCycle now);
  /// Blocks may also return to another SM.
  BlockExchange& exchange() { return exchange_; }
  /// Nobody's context stands there any more, whosever place it is.
  void free_place(std::uint32_t number, SmCycle now);
  /// No block that has waited too long needs the room first.
  bool may_start(SmCycle now) const;
  /// The tenant's blocks in memory; those that move are dropped later.  Its others go on, to end.
  std::vector<BlockDone> drop_tenant(TenantId tenant, SmCycle now);
  bool empty() const { return blocks_.empty(); }
  /// Where blocks stand now, for the SM's gauges.
  void count_blocks() const;
  /// "2 blocks wait in memory, 1 of them for pages", or "".
  std::string waiting_for() const;

  void serialize(Archive& archive) {
    archive.section("sm/local_scheduler", 7);
    archive(blocks_, leaving_, dropping_, to_points_, staying_, too_large_, keeps_, entered_,
            stops_, free_numbers_, wake_);
    archive(parts_.engine);
  }

 private:
  using Mask = std::uint64_t;
  static Mask bit_of(BlockPlace place) { return Mask{1} << place.value(); }
  std::size_t count(BlockInMemory::State state) const;
  /// One more block may leave: another one could take its place.
  bool can_leave(std::size_t staged) const;
  /// Places of blocks with squashed accesses.
  Mask notice_faults(std::size_t staged, SmCycle now);
  void displace_youngest(Mask squashed, SmCycle now);
  /// When the block may be displaced.
  SmCycle displaces_at(BlockPlace place) const {
    return entered_[place.value()] + max_wait_.value();
  }
  Mask on_chip() const;
  /// `technique`: save or flush.
  void leave(BlockPlace place, Technique technique, SmCycle now);
  StopPlaces stops_at(BlockPlace place) const {
    return (to_points_ & bit_of(place)) != 0 ? StopPlaces::points : StopPlaces::any;
  }
  /// It makes room as the grid's blocks are told to.
  void make_room(BlockPlace place, Technique technique, SmCycle now, std::uint8_t keeps = 0);
  void count_stop(SmStatistics::OfTenant& counts, BlockPlace place, SmCycle now) const {
    const auto cycles = static_cast<std::uint64_t>(now - stops_[place.value()]);
    counts.block_stop_cycles += cycles;
    counts.block_stops.add(cycles);
  }
  /// It has stopped; for how many cycles it has issued nothing already, as far as is known.
  std::int64_t end_stop(BlockPlace place, SmCycle now) {
    const bool ran_on = stops_at(place) == StopPlaces::points;
    leaving_ &= ~bit_of(place);
    to_points_ &= ~bit_of(place);
    return ran_on ? 0 : now - stops_[place.value()];
  }
  /// Nothing of it is in flight.
  void save(BlockPlace place, SmCycle now);
  bool can_return(const BlockInMemory& block) const {
    return block.can_return() && (block.sent || !sm_.blocks.grid(block.grid).stopped);
  }
  bool is_overdue(const BlockInMemory& block, SmCycle now) const;
  /// The one that returns next.
  std::vector<BlockInMemory>::const_iterator first_ready() const;
  void set_wake(SmCycle now);
  /// Ends the stay of returned blocks whose squashed accesses are all through.
  void end_stays(SmCycle now);

  const SmContext sm_;
  const BlockSwitching& policy_;
  const Parts parts_;
  BlockExchange exchange_;
  const std::uint32_t extra_;
  const SmCycle max_wait_;

  std::vector<BlockInMemory> blocks_;  ///< in the order in which they began to leave
  Mask leaving_ = 0;                   ///< places of blocks that stop
  Mask dropping_ = 0;                  ///< of those among them that are flushed
  Mask to_points_ = 0;                 ///< of those that go on until a preemption point
  Mask staying_ = 0;    ///< of those that have returned, until FaultableAccesses::owes is false
  Mask too_large_ = 0;  ///< of those whose context has no room in memory
  std::array<std::uint8_t, 64> keeps_{};     ///< by place, of those that stop: InPlace bits
  std::array<SmCycle, 64> entered_{};        ///< by place
  std::array<SmCycle, 64> stops_{};          ///< by place, of those that stop: since when
  std::vector<std::uint32_t> free_numbers_;  ///< of places in the context area
  SmCycle wake_ = no_cycle;                  ///< beside the engine's
  std::optional<std::uint32_t> untold_;      ///< place in the context area; within a cycle alone
};

}  // namespace lockstep
