#pragma once

#include <cstdint>
#include <optional>

#include "models/workload/scenario.hpp"

namespace lockstep {

/// Returns the number of thread blocks that the programs of all tenants launch, if it is known in
/// advance: no step repeats until a buffer says so, and no program starts over until others are
/// done or is stopped before its end.
std::optional<std::uint64_t> expected_blocks(const Scenario& scenario);

}  // namespace lockstep
