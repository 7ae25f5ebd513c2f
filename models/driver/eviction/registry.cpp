#include "core/parameters/registered.hpp"
#include "models/driver/eviction/eviction.hpp"

namespace lockstep {

const PolicyRegistry<MakeEviction>& evictions() {
  static const PolicyRegistry<MakeEviction> registry{
      LOCKSTEP_REGISTERED(MakeEviction, no_eviction),
      LOCKSTEP_REGISTERED(MakeEviction, lru_eviction),
      LOCKSTEP_REGISTERED(MakeEviction, lfu_eviction),
      LOCKSTEP_REGISTERED(MakeEviction, random_eviction),
      LOCKSTEP_REGISTERED(MakeEviction, sequential_local_eviction),
      LOCKSTEP_REGISTERED(MakeEviction, tree_eviction),
  };
  return registry;
}

const PolicyList& eviction_policies() {
  return evictions().list();
}

std::unique_ptr<Eviction> make_eviction(const PolicyChoice& choice) {
  return evictions().factory(choice)(choice);
}

}  // namespace lockstep
