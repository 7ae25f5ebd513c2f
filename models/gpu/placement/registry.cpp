#include "core/parameters/registered.hpp"
#include "models/gpu/placement/placement.hpp"

namespace lockstep {

const PolicyRegistry<MakePlacement>& placements() {
  static const PolicyRegistry<MakePlacement> registry{
      LOCKSTEP_REGISTERED(MakePlacement, fixed_placement),
      LOCKSTEP_REGISTERED(MakePlacement, least_memory_placement),
      LOCKSTEP_REGISTERED(MakePlacement, packed_placement),
      LOCKSTEP_REGISTERED(MakePlacement, random_placement),
      LOCKSTEP_REGISTERED(MakePlacement, spread_placement),
  };
  return registry;
}

const PolicyList& placement_policies() {
  return placements().list();
}

std::unique_ptr<TenantPlacement> make_placement(const PolicyChoice& choice) {
  return placements().factory(choice)(choice);
}

}  // namespace lockstep
