/// Departures of clusters: all blocks of a cluster leave their SMs together, or none does.
///
/// A block of a cluster that must make room asks the hub of its GPC, which tells all blocks of the
/// cluster to stop.  Each block reports when it is quiet: its warps are stopped, and all their
/// requests have been answered, by other blocks too.  When all are quiet nothing of the cluster is
/// in flight, and the hub lets all of them leave, by one technique.  Blocks whose threads have
/// ended leave with the others, since these may read their shared memory.  Accesses of other blocks
/// to a quiet block's shared memory still find it in its place, because no block has left.
/// Source: modern-isa.md, section 5.8 (a cluster is saved, flushed and drained only as a whole).
///
/// Simplified: a cluster whose blocks turn out not to be repeatable has stopped in vain, and goes
/// on if it cannot be saved.
#pragma once

#include <bit>
#include <cstdint>

#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class ClusterDepartures {
 public:
  explicit ClusterDepartures(const SmContext& sm, ClusterBlocks& members)
      : constants_(sm.constants), blocks_(sm.blocks), members_(members) {}

  /// Returns whether the block leaves only with others.
  bool concerns(BlockPlace place) const {
    return blocks_.grid(blocks_.block(place).grid).launch.cluster_blocks() > 1;
  }
  /// Returns the technique that the block's cluster allows where it cannot be flushed: save, or
  /// drain.  A cluster may return to other SMs, but local memory stays in its SM.
  Technique otherwise(BlockPlace place) const {
    const bool is_local = blocks_.grid(blocks_.block(place).grid).program->local_bytes > 0;
    return constants_.setup.contexts.places > 0 && !is_local ? Technique::save : Technique::drain;
  }
  /// Asks the cluster to leave, since a more urgent grid wants the SM.
  void ask(BlockPlace place, Technique technique, SmCycle now) {
    tell(ClusterMoveStep::ask, place, technique, now);
  }
  /// Tells the hub that the block is quiet.  `can_be_saved`: there is room for its context.
  void quiet(BlockPlace place, bool can_be_saved, SmCycle now) {
    told_ |= bit_of(place);
    tell(ClusterMoveStep::quiet, place, can_be_saved ? otherwise(place) : Technique::drain, now);
  }
  bool has_told(BlockPlace place) const { return (told_ & bit_of(place)) != 0; }
  /// Returns how many blocks have said that they are quiet, and have not left.
  unsigned promised() const { return static_cast<unsigned>(std::popcount(told_)); }
  void allow(BlockPlace place) { may_go_ |= bit_of(place); }
  bool may_go(BlockPlace place) const { return (may_go_ & bit_of(place)) != 0; }
  /// The block does not leave.
  void forget(BlockPlace place) {
    told_ &= ~bit_of(place);
    may_go_ &= ~bit_of(place);
  }
  /// Notes that the block has left, or that its context has been taken out: the hub hears no more
  /// of it.
  void left(BlockPlace place, SmCycle now) {
    tell(ClusterMoveStep::left, place, Technique::drain, now);
    forget(place);
    members_[place].block.size = 1;
  }

  void serialize(Archive& archive) { archive(told_, may_go_); }

 private:
  static std::uint64_t bit_of(BlockPlace place) { return std::uint64_t{1} << place.value(); }
  void tell(ClusterMoveStep step, BlockPlace place, Technique technique, SmCycle now) {
    ClusterMove move;
    move.block = members_[place].block;
    move.step = step;
    move.technique = technique;
    move.idempotent = blocks_.block(place).progress.idempotent ? 1 : 0;
    members_.tell_hub(MessageKind::cluster_moves, move, now);
  }

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  ClusterBlocks& members_;
  std::uint64_t told_ = 0;    ///< places of quiet blocks of which the hub has heard
  std::uint64_t may_go_ = 0;  ///< places of blocks whose cluster is quiet
};

}  // namespace lockstep
