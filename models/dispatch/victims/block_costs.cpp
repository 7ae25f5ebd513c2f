#include "models/dispatch/victims/block_costs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace lockstep {

namespace {

Time page_wait(const BlockStatus& block, const PreemptionMachine& machine) {
  return block.faulted != 0 ? machine.page_wait : Time::zero();
}

/// Returns how many instructions the block is expected to have in all; nothing: that is unknown.
std::optional<std::uint64_t> expected_length(std::uint64_t executed, const VictimKernel& kernel,
                                             const DrainPrediction& prediction) {
  if (prediction.length == DrainEstimate::quantile)
    return kernel.lengths == nullptr ? std::nullopt
                                     : kernel.lengths->of_block_with(executed, prediction.percent);
  const auto mean = kernel.finished->mean_instructions();
  const bool is_longer = mean && executed >= *mean;
  return is_longer && prediction.beyond_mean == BeyondMean::unknown ? std::nullopt : mean;
}

}  // namespace

BlockCost flush_cost(const BlockStatus& block, const PreemptionMachine& machine) {
  if (block.idempotent == 0) return {};
  return {page_wait(block, machine), block.work.executed.warp};
}

BlockCost save_cost(const BlockStatus& block, const VictimKernel& kernel,
                    const PreemptionMachine& machine, SwitchEstimate estimate) {
  Time moves = machine.share.time_of(kernel.context_bytes);
  if (estimate == SwitchEstimate::measured) moves = kernel.mean_save.value_or(moves);
  const Time latency = page_wait(block, machine) + moves;
  if (block.work.cycles == 0) return {latency, 0};
  const auto cycles = static_cast<std::uint64_t>(machine.sm_clock.cycle_at_or_after(moves).count());
  return {latency, 2 * cycles * block.work.executed.warp / block.work.cycles};
}

BlockCost drain_cost(const BlockStatus& block, const VictimKernel& kernel,
                     const PreemptionMachine& machine, const DrainPrediction& prediction) {
  const std::uint64_t executed = block.work.executed.warp;
  const auto all = expected_length(executed, kernel, prediction);
  if (!all || executed == 0 || block.faulted != 0) return {};
  std::uint64_t cpi = *kernel.finished->mean_cpi();
  const bool own_pace = prediction.pace == CpiPrediction::steadier && kernel.running.blocks() > 0 &&
                        kernel.running.variance() < kernel.finished->variance();
  if (own_pace) cpi = block.work.cycles * KernelHistory::cpi_one / executed;
  const std::uint64_t left = *all > executed ? *all - executed : 0;
  const auto cycles = static_cast<std::int64_t>(left * cpi / KernelHistory::cpi_one);
  return {machine.sm_clock.duration(Cycles{cycles}), 0, own_pace};
}

BlockCost known_drain_cost(const BlockStatus& block, const VictimKernel& kernel,
                           const PreemptionMachine& machine) {
  if (kernel.undisturbed == nullptr || block.block >= kernel.undisturbed->size()) return {};
  const Time all = (*kernel.undisturbed)[block.block];
  if (all == Time::never()) return {};
  const Time past = machine.sm_clock.duration(Cycles{static_cast<std::int64_t>(block.work.cycles)});
  return {std::max(Time::zero(), all - past), 0};
}

SmRelease::Block cheapest(const BlockStatus& block, BlockCost flush, BlockCost save,
                          BlockCost drain, Time bound) {
  const std::array<std::pair<Technique, BlockCost>, 3> all = {
      {{Technique::flush, flush}, {Technique::save, save}, {Technique::drain, drain}}};
  const std::pair<Technique, BlockCost>* best = nullptr;
  for (const auto& one : all) {
    const BlockCost& cost = one.second;
    if (!cost.possible()) continue;
    if (best == nullptr) {
      best = &one;
      continue;
    }
    const bool within = cost.latency <= bound, best_within = best->second.latency <= bound;
    const bool better = within != best_within ? within
                        : within              ? cost.overhead < best->second.overhead
                                              : cost.latency < best->second.latency;
    if (better) best = &one;
  }
  return {{block.block, best->first, {}},
          best->second.latency,
          best->second.overhead,
          block,
          best->second.own_pace};
}

}  // namespace lockstep
