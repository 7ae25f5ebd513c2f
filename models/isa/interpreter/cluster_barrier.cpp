#include "models/isa/interpreter/cluster_barrier.hpp"

#include <bit>

namespace lockstep::isa {

void ClusterBarrier::arrive(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes) {
  Block& block = blocks_[rank];
  block.lanes[w].arrived |= lanes;
  is_used_ = true;
  if (block.races != nullptr) block.races->arrive(number, w);
  complete();
}

std::uint32_t ClusterBarrier::pass(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes) {
  Lanes& those = blocks_[rank].lanes[w];
  const std::uint32_t passed = lanes & those.passed;
  those.passed &= ~passed;
  return passed;
}

void ClusterBarrier::wait(std::uint32_t rank, std::uint32_t w, std::uint32_t lanes) {
  blocks_[rank].lanes[w].waiting |= lanes;
  (*blocks_[rank].warps)[w].paths.wait();
}

void ClusterBarrier::complete() {
  if (!is_used_) return;
  for (const Block& block : blocks_)
    for (std::uint32_t w = 0; w < block.lanes.size(); ++w)
      if (missing(block, w) != 0) return;
  release();
}

void ClusterBarrier::release() {
  is_used_ = false;
  for (Block& block : blocks_) {
    for (std::uint32_t w = 0; w < block.lanes.size(); ++w) {
      Lanes& those = block.lanes[w];
      InterpretedWarp& warp = (*block.warps)[w];
      if (block.races != nullptr) block.races->release(number, w, true);
      const std::uint32_t waiting = those.waiting;
      those = {0, those.arrived & ~waiting, 0};
      if (waiting == 0) continue;
      warp.paths.release(waiting);
      warp.is_behind_barrier = true;
    }
    if (block.races != nullptr) block.races->clear(number);
  }
}

std::uint32_t ClusterBarrier::waiting() const {
  std::uint32_t threads = 0;
  for (const Block& block : blocks_)
    for (const Lanes& those : block.lanes)
      threads += static_cast<std::uint32_t>(std::popcount(those.waiting));
  return threads;
}

}  // namespace lockstep::isa
