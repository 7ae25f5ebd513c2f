#include "core/parameters/registered.hpp"
#include "models/driver/prefetch/prefetcher.hpp"

namespace lockstep {

const PolicyRegistry<MakePrefetcher>& prefetchers() {
  static const PolicyRegistry<MakePrefetcher> registry{
      LOCKSTEP_REGISTERED(MakePrefetcher, no_prefetcher),
      LOCKSTEP_REGISTERED(MakePrefetcher, random_prefetcher),
      LOCKSTEP_REGISTERED(MakePrefetcher, sequential_local_prefetcher),
      LOCKSTEP_REGISTERED(MakePrefetcher, tree_prefetcher),
      LOCKSTEP_REGISTERED(MakePrefetcher, zheng_local_prefetcher),
      LOCKSTEP_REGISTERED(MakePrefetcher, zheng_sequential_prefetcher),
  };
  return registry;
}

const PolicyList& prefetcher_policies() {
  return prefetchers().list();
}

std::unique_ptr<Prefetcher> make_prefetcher(const PolicyChoice& choice) {
  return prefetchers().factory(choice)(choice);
}

}  // namespace lockstep
