/// Use that a block makes of its cluster when it is interpreted: shared memory of other blocks, and
/// the barrier of them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/isa/instruction.hpp"
#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

/// Place in shared memory of a block of the cluster.
struct SharedPlace {
  BlockRunner* block = nullptr;
  std::uint32_t offset = 0;
};

class ClusterAccess {
 public:
  explicit ClusterAccess(BlockRunner& block) : block_(block) {}

  /// Returns where an address of shared memory of the cluster is.  Throws UserError at the lane,
  /// with `what` it is for, if the cluster has no such block, or the block has ended.
  SharedPlace find(const InterpretedWarp& warp, unsigned lane, std::uint32_t address,
                   const std::string& what) const;
  /// Returns the bytes at the address; null: the block itself does not have them all.
  std::byte* bytes(const InterpretedWarp& warp, unsigned lane, std::uint32_t address,
                   unsigned count, const std::string& what) const;
  /// Throws UserError unless an mbarrier is in the block to which bytes go.
  void require_same_block(const InterpretedWarp& warp, unsigned lane, const SharedPlace& target,
                          const SharedPlace& barrier) const;
  /// Bytes have come that the mbarrier waits for; the lane has sent them.
  void complete(const InterpretedWarp& warp, unsigned lane, const SharedPlace& barrier,
                std::uint64_t bytes) const;
  /// Lanes arrive at the barrier of the cluster, or wait for it.
  void barrier(InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);

 private:
  BlockRunner& block_;
};

}  // namespace lockstep::isa
