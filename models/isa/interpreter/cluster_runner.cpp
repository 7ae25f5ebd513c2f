#include "models/isa/interpreter/cluster_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "core/error/error.hpp"

namespace lockstep::isa {
namespace {

/// Warp instructions of a block before the next block of its cluster runs.
constexpr std::uint64_t cluster_slice = 256;

}  // namespace

ClusterRunner::ClusterRunner(LaunchState& state, std::uint64_t number) : state_(state) {
  const ClusterShape &grid = state.launch.grid, &shape = state.launch.cluster;
  const std::uint64_t across = grid[0] / shape[0], down = grid[1] / shape[1];
  const std::array<std::uint32_t, 3> first{
      static_cast<std::uint32_t>(number % across) * shape[0],
      static_cast<std::uint32_t>(number / across % down) * shape[1],
      static_cast<std::uint32_t>(number / across / down) * shape[2]};
  for (std::uint32_t rank = 0; rank < blocks_of(shape); ++rank) {
    const auto at = block_of_rank(first, shape, rank);
    const std::uint64_t block = at[0] + grid[0] * (at[1] + std::uint64_t{grid[1]} * at[2]);
    blocks_.push_back(std::make_unique<BlockRunner>(state, *this, block, rank));
    blocks_.back()->join(barrier_);
  }
}

bool ClusterRunner::run(std::uint64_t instructions) {
  using Progress = BlockRunner::Progress;
  if (size() == 1) return blocks_[0]->run(instructions) == Progress::over;
  for (std::uint64_t given = 0; given < instructions;) {
    bool is_over = true, any_runs = false;
    for (const auto& block : blocks_) {
      if (block->finished()) continue;
      const Progress progress = block->run(cluster_slice);
      is_over &= progress == Progress::over;
      any_runs |= progress != Progress::stuck;
      given += cluster_slice;
    }
    if (is_over) return true;
    if (!any_runs) go_on();
  }
  return false;
}

void ClusterRunner::go_on() {
  const auto any = [this](auto&& let_go) { return std::ranges::any_of(blocks_, let_go); };
  // A block may run: another block has let it go.
  if (any([](const auto& block) { return block->runnable(); })) return;
  if (any([](const auto& block) { return block->unblock(); })) return;
  bool any_ended = false;
  for (const auto& block : blocks_) any_ended |= block->end_phase_waits();
  if (!any_ended) report_deadlock();
}

bool ClusterRunner::gets_on() {
  bool any = false;
  for (const auto& block : blocks_) any |= !block->finished() && block->gets_on();
  return any;
}

std::string ClusterRunner::missing_text() const {
  if (barrier_.waiting() == 0) return "";
  std::uint32_t threads = 0;
  std::string first;
  barrier_.for_each_missing([&](std::uint32_t rank, std::uint32_t w, std::uint32_t lanes) {
    threads += static_cast<std::uint32_t>(std::popcount(lanes));
    if (first.empty()) first = blocks_[rank]->standing_text(w, lanes);
  });
  return fmt::format("; {} threads wait at barrier.cluster for {} that have not arrived: {}",
                     barrier_.waiting(), threads, first);
}

void ClusterRunner::report_spin(std::uint64_t instructions) const {
  const auto spins = std::ranges::find_if(
      blocks_, [](const auto& block) { return !block->finished() && block->runnable(); });
  const auto stands =
      std::ranges::find_if(blocks_, [](const auto& block) { return !block->finished(); });
  LOCKSTEP_CHECK(stands != blocks_.end(), "a cluster has ended and spins");
  (spins != blocks_.end() ? *spins : *stands)->report_spin(instructions, missing_text());
}

void ClusterRunner::report_deadlock() const {
  // Lanes that do not wait at the barrier of the cluster are the cause, if there are any.
  std::optional<std::uint32_t> cause;
  if (barrier_.waiting() != 0)
    barrier_.for_each_missing([&](std::uint32_t rank, std::uint32_t, std::uint32_t) {
      if (!cause) cause = rank;
    });
  for (std::uint32_t rank = 0; rank < size() && !cause; ++rank)
    if (!blocks_[rank]->finished()) cause = rank;
  LOCKSTEP_CHECK(cause, "no block runs, yet all have ended");
  blocks_[*cause]->report_deadlock(missing_text());
}

}  // namespace lockstep::isa
