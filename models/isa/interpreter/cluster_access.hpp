/// Use of a cluster by an interpreted block: shared memory of other blocks, and their common
/// barrier.
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

  /// Returns the place of an address in shared memory of the cluster.  Throws UserError at the lane
  /// if the cluster has no such block, or if the block has ended; `what`: purpose of the address.
  SharedPlace find(const InterpretedWarp& warp, unsigned lane, std::uint32_t address,
                   const std::string& what) const;
  /// Returns the bytes at the address; nullptr: some are outside of the block's own memory.
  std::byte* bytes(const InterpretedWarp& warp, unsigned lane, std::uint32_t address,
                   unsigned count, const std::string& what) const;
  /// Throws UserError unless an mbarrier is in the block that gets the bytes.
  void require_same_block(const InterpretedWarp& warp, unsigned lane, const SharedPlace& target,
                          const SharedPlace& barrier) const;
  /// Counts bytes that have come for the mbarrier; the lane has sent them.
  void complete(const InterpretedWarp& warp, unsigned lane, const SharedPlace& barrier,
                std::uint64_t bytes) const;
  /// Lets lanes arrive at the barrier of the cluster, or wait for it.
  void barrier(InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);

 private:
  BlockRunner& block_;
};

}  // namespace lockstep::isa
