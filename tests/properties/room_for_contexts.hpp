#pragma once

#include <algorithm>
#include <memory>

#include "core/memory/round_up.hpp"
#include "models/gpu/machine.hpp"
#include "models/gpu/policy_check.hpp"

namespace lockstep::testing {

/// A machine whose memory, beside the contexts of blocks that leave SMs, is what the scenario says.
inline std::unique_ptr<Machine> with_room_for_contexts(const Scenario& scenario) {
  MachineParameters parameters = resolve_machine(scenario);
  const auto build = [&] {
    return std::make_unique<Machine>(scenario, parameters,
                                     Machine::Options{.capture = true, .lowering = {}});
  };
  if (!saves_blocks(parameters.policies)) return build();
  const auto capacity_of = [&](std::uint32_t gpu) -> Bytes& {
    return (parameters.gpus.empty() ? parameters.gpu : parameters.gpus[gpu]).memory.capacity;
  };
  const Bytes much(std::uint64_t{3} << 30);
  const std::size_t gpus = std::max<std::size_t>(parameters.gpus.size(), 1);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) capacity_of(gpu) = capacity_of(gpu) + much;
  const std::unique_ptr<Machine> roomy = build();
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    capacity_of(gpu) = Bytes(capacity_of(gpu).count() - much.count());
  for (const auto& site : roomy->sites()) {
    const std::uint64_t contexts = site->gpu().context_bytes();
    // What divides into any number of partitions, as the memory for pages does.
    const std::uint64_t large = std::uint64_t{2} << 20;
    const std::uint64_t unit = contexts % large == 0 ? 3 * large : 12 * page_bytes;
    Bytes& capacity = capacity_of(site->place().gpu);
    capacity = capacity + Bytes(round_up(contexts, unit));
  }
  return build();
}

}  // namespace lockstep::testing
