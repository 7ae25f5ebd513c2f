/// How long an operation takes that ptxas expands, from what each of its machine operations takes.
#pragma once

#include "models/isa/opcodes/expansions.hpp"
#include "models/sm/parameters/sm_parameters.hpp"

namespace lockstep {

struct ExpansionTiming {
  isa::Unit unit = isa::Unit::integer;  ///< the one that is busy longest
  std::int64_t latency = 0;             ///< issue to issue of a dependent, cycles
  std::int64_t interval = 0;            ///< that the unit is busy, cycles
};

ExpansionTiming timing_of(const isa::Expansion& expansion, const SmParameters& parameters);

/// A class without units uses another's.
isa::Unit present_unit(isa::Unit unit, const SmUnitParameters& units);

/// Where integers are multiplied and added.
isa::Unit multiply_unit(const SmParameters& parameters);

}  // namespace lockstep
