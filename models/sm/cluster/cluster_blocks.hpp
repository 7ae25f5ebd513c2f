/// Blocks of thread block clusters in the SM, and the state of the cluster's barrier in each of
/// them.
///
/// A block tells the hub of its GPC when it begins and when its threads have ended.  It stays, and
/// others may access its shared memory, until the hub says that the threads of all blocks of the
/// cluster have ended.  A block outside of clusters counts as a cluster of one block, which no hub
/// knows of.
/// Source: modern-isa.md, section 5.8; PTX ISA 8.x, "Clusters".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/noc/cluster_messages.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class ClusterBlocks {
 public:
  struct Member {
    ClusterBlock block;                ///< the cluster; size 1: the hub knows nothing of it
    bool ended = false;                ///< true: the hub has heard of the end
    bool told = false;                 ///< true: the hub knows that all threads are at the barrier
    std::uint32_t arrived = 0;         ///< threads that have come to the barrier
    std::vector<std::uint32_t> lanes;  ///< lanes of each warp that have arrived; empty: none
    std::vector<std::uint32_t>
        passed;  ///< lanes of each warp that arrived in the phase before and have not waited since
    std::vector<SmCycle> since;  ///< begin of the last wait of each warp

    bool is_alone() const { return block.size == 1; }
    void serialize(Archive& archive) { archive(block, ended, told, arrived, lanes, passed, since); }
  };

  ClusterBlocks(const SmContext& sm, FrontEnd& front_end)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        ports_(sm.ports),
        front_end_(front_end),
        members_(sm.constants.parameters.blocks) {}

  Member& operator[](BlockPlace place) { return members_[place.value()]; }
  const Member& operator[](BlockPlace place) const { return members_[place.value()]; }
  const Member& of(const Warp& warp) const { return members_[warp.block]; }

  /// The block has taken its place.
  void begin(BlockPlace place, SmCycle now);
  /// Notes that the threads of the block have ended.  Returns whether the block stays for other
  /// blocks.
  bool end(BlockPlace place, SmCycle now);
  /// A block that was to come ends with its tenant.
  void drop(const BlockReference& reference, const GridLaunch& launch, SmCycle now);
  /// Ends the block, because the threads of all blocks of its cluster have ended.  Returns the
  /// place of the block, which may leave.
  BlockPlace leave(const ClusterBlock& block);
  /// Returns the place of the block with this rank.  Precondition: there is one.
  BlockPlace place_of(std::uint32_t grid, std::uint64_t cluster, std::uint32_t rank) const;
  template <class Body>
  void tell_hub(MessageKind kind, const Body& body, SmCycle now) {
    ports_.send_to_hub(kind, body, 0, 1, now);
  }
  /// Saves or restores the leaving block's state of its cluster's barrier, at its place.
  void serialize_at(Archive& archive, BlockPlace place, SmCycle now);
  /// Returns whether serialize_at() has anything to save.
  bool knows_anything(BlockPlace place) const {
    const Member& member = members_[place.value()];
    return member.ended || !member.lanes.empty();
  }
  /// Readies the place of a block that has been away, as begin() does; its state is restored
  /// afterwards.
  void come_back(BlockPlace place, SmCycle now);

  std::string waiting_for() const;
  void serialize(Archive& archive) {
    archive.section("sm/cluster_blocks", 2);
    archive(members_);
  }

 private:
  static ClusterBlock block_of(const BlockReference& reference, const GridLaunch& launch);

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  std::vector<Member> members_;  ///< members by the place of their block
};

}  // namespace lockstep
