/// Contexts of blocks: the state that leaves the SM with a block, as bytes, and comes back.
///
/// A context holds registers, as ContextKind says, and predicates of all warps, the block's shared
/// memory, and its control state: paths and barriers, the rest of a `nanosleep` and of the time for
/// which a path waits at an mbarrier, arrivals that are owed behind copies, and for each warp the
/// list of squashed accesses that are to be issued again, with their operands if the scheme
/// logs them.  Registers that are not saved come back with a value that nothing computes.  Local
/// memory stays where it is.  A block can leave when nothing of it is in flight: answers,
/// acknowledgements, events of its warps, a `printf` half done.  On chip its registers and shared
/// memory are overwritten when it has left.
///
/// A block that is preempted may have to stop at preemption points. Each of its warps then goes on
/// until it stops in front of such a point. Some warps stop where they are: warps that sleep, warps
/// that a fault has stopped, and warps that need entries of the operand log which such warps hold.
/// Warps that wait for others (at plain barriers, too) stop last, since the others might still
/// release them.
///
/// Source: 000, section 4.1; 002, section IV; preemption.md, sections 4 and 5; architecture.md,
/// section 8, rules 4 and 5.
///
/// Occupied registers take what the block has in the register file, the predicates of its warps
/// among them.
///
/// Simplified: values of 64 bits have rows of their own here, so that a warp may need more rows
/// than its launch states registers. Such a warp saves all of them.  Control state takes the bytes
/// of its serialised form.
#pragma once

#include <cstddef>
#include <vector>

#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/context/block_context.hpp"
#include "models/sm/context/register_image.hpp"
#include "models/sm/context/saved_access.hpp"
#include "models/sm/execution/mbarriers.hpp"
#include "models/sm/execution/printing.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/load_store/load_store_unit.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class BlockContexts {
 public:
  BlockContexts(const SmContext& sm, FrontEnd& front_end, FaultableAccesses& faultable,
                Flights& flights, LoadStoreUnit& load_store, const Printing& printing,
                Mbarriers& mbarriers, ClusterBlocks& clusters)
      : kind_(sm.constants.setup.contexts.kind),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        front_end_(front_end),
        faultable_(faultable),
        flights_(flights),
        load_store_(load_store),
        printing_(printing),
        mbarriers_(mbarriers),
        clusters_(clusters) {}

  /// Stops issue in the block, apart from the rest of a printf that has begun. A block that stops
  /// at preemption points goes on until its warps come to them. Must be called in each cycle until
  /// the block is quiet.
  void freeze(BlockPlace place, StopPlaces stops = StopPlaces::any);
  /// Lets the front end look at the block's warps again, because their tenant is ended.
  void thaw(BlockPlace place);
  /// Lets the warps of a block that stays go on where they stopped.
  void go_on(BlockPlace place, SmCycle now);
  /// Returns whether the control state of the block fits a place in memory, whatever its squashed
  /// accesses are.
  bool is_small(BlockPlace place) const;
  /// Returns whether nothing of the frozen block is in flight.
  bool is_quiet(BlockPlace place) const;
  /// Takes the context of a quiet block out of the SM; the block keeps its place until it leaves.
  /// `keeps`: InPlace bits of the parts that stay on chip.
  BlockContext take_out(BlockPlace place, SmCycle now, std::uint8_t keeps = 0);
  /// Takes out a block that is to start again: nothing of the block is kept.
  void discard(BlockPlace place, SmCycle now);
  /// Puts a context into the block's new place, and lets its warps go on.
  void put_in(BlockPlace place, std::vector<std::byte> bytes, SmCycle now);

 private:
  /// Control state of a warp.
  struct SavedWarp {
    isa::WarpPaths paths;
    bool left = false;  ///< the threads have ended, and all requests are answered
    bool suspended = false;
    std::int64_t asleep = 0;  ///< cycles left to sleep
    std::vector<SavedAccess> accesses;
    std::vector<Mbarriers::Owed> owed;

    /// Writes members that few warps have only where they are used, to keep contexts short.
    void serialize(Archive& archive) {
      auto bits = static_cast<std::uint8_t>(suspended | !owed.empty() << 1);
      archive(paths, left, bits, asleep, accesses);
      suspended = (bits & 1) != 0;
      if ((bits & 2) != 0) archive(owed);
    }
  };

  /// Freezes the block's warps that stand at a preemption point or cannot go on alone.
  void freeze_at_points(const BlockSlot& block);
  /// Returns whether the warp needs entries of the operand log that squashed accesses of its block
  /// hold; these accesses are issued again only after the block has been away.
  bool waits_for_squashed(WarpSlot slot, const BlockSlot& block) const;
  void freeze(WarpSlot slot) {
    front_end_.held().freeze(slot);
    front_end_.wait_for_fault(slot);
  }
  bool is_quiet(WarpSlot slot) const;
  /// Returns whether the warp is about to issue, or a coming event names it other than an event of
  /// its scoreboard.
  bool is_named_by_events(WarpSlot slot) const;
  bool has_left(WarpSlot slot) const {
    return blocks_.warp(slot).paths.finished() && (front_end_.known() & bit_of(slot)) == 0;
  }
  /// Returns whether the warp waits for an acquire that is squashed.
  bool is_suspended(WarpSlot slot) const;
  SavedWarp take_out(WarpSlot slot, SmCycle now);
  void count_stop(const Warp& warp);
  std::vector<WarpSlot> warps_in_order(const BlockSlot& block) const;
  /// Returns the live registers of the block's warps that have not left.
  std::vector<WarpRegisters> registers_of(const BlockSlot& block,
                                          const std::vector<SavedWarp>& warps) const;
  RegisterShape shape_of(const BlockSlot& block) const;
  /// Bytes that the block has in the register file.
  std::size_t occupied_bytes(const BlockSlot& block) const;
  /// Returns the warps with further rows: as many as the block's registers have room for.
  std::vector<WarpRegisters> with_unneeded(const BlockSlot& block,
                                           std::vector<WarpRegisters> warps) const;
  /// Returns how many bytes at the beginning of a context are registers.
  static std::size_t bytes_of_registers(const std::vector<std::byte>& context);
  /// Returns whether all warps of the block stand at the same barrier, with no path elsewhere.
  bool stands_at_barrier(const BlockSlot& block, const std::vector<SavedWarp>& warps) const;
  /// Writes the registers, with which the context begins.
  void write_registers(BlockPlace place, const std::vector<SavedWarp>& warps, bool keeps,
                       BlockContext& context);
  void count_registers(const BlockSlot& block, const std::vector<WarpRegisters>& registers,
                       const RegisterImage::Classes& classes, std::size_t saved);
  void read_registers(BlockPlace place, const std::vector<SavedWarp>& warps,
                      const std::vector<std::byte>& context);
  SavedAccess take_out_oldest_access(WarpSlot slot, SmCycle now);
  void put_in(WarpSlot slot, SavedWarp& saved);
  void go_on(WarpSlot slot, const SavedWarp& saved, SmCycle now);
  void put_in_access(WarpSlot slot, SavedAccess& saved);
  std::uint16_t begin_flight(WarpSlot slot, std::uint32_t pc);

  const ContextKind kind_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  FrontEnd& front_end_;
  FaultableAccesses& faultable_;
  Flights& flights_;
  LoadStoreUnit& load_store_;
  const Printing& printing_;
  Mbarriers& mbarriers_;
  ClusterBlocks& clusters_;
};

}  // namespace lockstep
