#pragma once

#include <cstdint>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Operations outside of loops that have a point among them.
inline constexpr std::uint32_t preemption_point_interval = 1000;

/// Marks barriers as preemption points and inserts others; `interval` as above.
void place_preemption_points(ir::Function& function, std::uint32_t interval);

}  // namespace lockstep::isa::lowering
