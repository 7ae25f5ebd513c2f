#include "models/isa/interpreter/cluster_access.hpp"

#include <fmt/format.h>

#include <bit>

#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/interpreter/cluster_runner.hpp"

namespace lockstep::isa {

SharedPlace ClusterAccess::find(const InterpretedWarp& warp, unsigned lane, std::uint32_t address,
                                const std::string& what) const {
  const ClusterAddress place = ClusterAddress::unpack(address);
  const std::uint32_t rank = place.rank(block_.rank_), size = block_.cluster_.size();
  if (rank >= size)
    block_.fail(warp, lane,
                fmt::format("{}: the address names the block of rank {}, of a cluster of {} blocks",
                            what, rank, size),
                "give mapa a rank below %cluster_nctarank");
  BlockRunner& block = block_.cluster_.block(rank);
  if (&block != &block_ && block.finished())
    block_.fail(warp, lane,
                fmt::format("{}: the block of rank {} of the cluster has ended", what, rank),
                "let all blocks meet at barrier.cluster before one of them ends");
  return {&block, place.offset};
}

std::byte* ClusterAccess::bytes(const InterpretedWarp& warp, unsigned lane, std::uint32_t address,
                                unsigned count, const std::string& what) const {
  const SharedPlace place = find(warp, lane, address, what);
  std::byte* const found = place.block->shared_bytes(place.offset, count);
  if (found == nullptr && place.block != &block_)
    block_.fail(warp, lane,
                fmt::format("out-of-bounds {}: offset {:#x} in the block of rank {}, which has {} "
                            "bytes",
                            what, place.offset, place.block->rank_, place.block->shared_.size()),
                "check the index, and the size of what it goes into");
  return found;
}

void ClusterAccess::require_same_block(const InterpretedWarp& warp, unsigned lane,
                                       const SharedPlace& target,
                                       const SharedPlace& barrier) const {
  if (target.block == barrier.block) return;
  block_.fail(warp, lane,
              fmt::format("bytes go to the block of rank {} of the cluster, the mbarrier is in "
                          "that of rank {}",
                          target.block->rank_, barrier.block->rank_),
              "map both addresses to one block");
}

void ClusterAccess::complete(const InterpretedWarp& warp, unsigned lane, const SharedPlace& barrier,
                             std::uint64_t bytes) const {
  if (const InstructionMistake mistake =
          place_mistake(Space::shared, barrier.offset, barrier.block->shared_.size()))
    block_.fail(warp, lane, mistake.what, mistake.advice);
  barrier.block->phase_waits_.complete(warp, lane, barrier.offset, bytes);
}

void ClusterAccess::barrier(InterpretedWarp& warp, const Instruction& instruction,
                            std::uint32_t active) {
  ClusterBarrier& barrier = block_.cluster_.barrier();
  const std::uint32_t w = warp.identity.warp_in_block, rank = block_.rank_;
  const std::uint32_t arrived = barrier.arrived(rank, w, active);
  if (static_cast<ir::ClusterBarrierStep>(instruction.detail) == ir::ClusterBarrierStep::arrive) {
    if (arrived != 0)
      block_.fail(warp, static_cast<unsigned>(std::countr_zero(arrived)),
                  "arrives at barrier.cluster twice without waiting between",
                  "put barrier.cluster.wait behind each barrier.cluster.arrive");
    warp.paths.advance();
    return barrier.arrive(rank, w, active);
  }
  if (arrived != active)
    block_.fail(warp, static_cast<unsigned>(std::countr_zero(active & ~arrived)),
                "waits at barrier.cluster without having arrived",
                "put barrier.cluster.arrive before each barrier.cluster.wait");
  if (warp.paths.mask() != active) return BlockRunner::stand_apart(warp, active);
  const std::uint32_t passed = barrier.pass(rank, w, active);
  if (passed == 0) return barrier.wait(rank, w, active);
  warp.is_behind_barrier = true;
  if (passed == active) return warp.paths.advance();
  // The other lanes wait: they come here again as a path of their own.
  BlockRunner::stand_apart(warp, active & ~passed);
}

}  // namespace lockstep::isa
