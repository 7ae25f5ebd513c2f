#pragma once

#include <cstdint>
#include <optional>

#include "models/workload/scenario.hpp"

namespace lockstep {

/// Returns how many thread blocks the programs of all tenants launch, if that is known before:
/// nothing repeats until a buffer says so, starts over until others are done, or is stopped before
/// its end.
std::optional<std::uint64_t> expected_blocks(const Scenario& scenario);

}  // namespace lockstep
