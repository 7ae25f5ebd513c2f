#pragma once

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
  const Bytes pages = parameters.gpu.memory.capacity;
  parameters.gpu.memory.capacity = pages + Bytes(std::uint64_t{3} << 30);
  const std::uint64_t contexts = build()->context_bytes();
  // What divides into any number of partitions, as the memory for pages does.
  const std::uint64_t large = std::uint64_t{2} << 20;
  const std::uint64_t unit = contexts % large == 0 ? 3 * large : 12 * page_bytes;
  parameters.gpu.memory.capacity = pages + Bytes(round_up(contexts, unit));
  return build();
}

}  // namespace lockstep::testing
