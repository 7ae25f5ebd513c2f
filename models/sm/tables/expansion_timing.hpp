/// Timing of an operation that ptxas expands, from the timing of each of its machine operations.
#pragma once

#include "models/isa/opcodes/expansions.hpp"
#include "models/sm/parameters/sm_parameters.hpp"

namespace lockstep {

struct ExpansionTiming {
  isa::Unit unit = isa::Unit::integer;  ///< unit that is busy longest
  std::int64_t latency = 0;             ///< cycles from issue to issue of a dependent instruction
  std::int64_t interval = 0;            ///< cycles for which the unit is busy
};

ExpansionTiming timing_of(const isa::Expansion& expansion, const SmParameters& parameters);

/// Returns the class whose units execute `unit`: a class without units uses those of another class.
isa::Unit present_unit(isa::Unit unit, const SmUnitParameters& units);

/// Returns the unit that multiplies and adds integers.
isa::Unit multiply_unit(const SmParameters& parameters);

}  // namespace lockstep
