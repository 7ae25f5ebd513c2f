#include "core/parameters/registered.hpp"
#include "models/memory/replacement/replacement.hpp"

namespace lockstep {

const PolicyRegistry<ReplacementFactory>& replacement_registry() {
  static const PolicyRegistry<ReplacementFactory> registry{
      LOCKSTEP_REGISTERED(ReplacementFactory, lru_replacement),
      LOCKSTEP_REGISTERED(ReplacementFactory, random_replacement),
      LOCKSTEP_REGISTERED(ReplacementFactory, srrip_replacement),
      LOCKSTEP_REGISTERED(ReplacementFactory, drrip_replacement),
      LOCKSTEP_REGISTERED(ReplacementFactory, hints_replacement),
  };
  return registry;
}

const PolicyList& replacement_policies() {
  return replacement_registry().list();
}

std::unique_ptr<Replacement> make_replacement(const PartitionPolicySetup& setup) {
  return replacement_registry().factory(setup.choice).make(setup);
}

}  // namespace lockstep
