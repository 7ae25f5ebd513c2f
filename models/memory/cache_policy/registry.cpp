#include "models/memory/cache_policy/cache_policy.hpp"

namespace lockstep {

const PolicyRegistry<MakeCachePolicy>& cache_policy_registry() {
  static const PolicyRegistry<MakeCachePolicy> registry{
      {"lru", "every request looks up, every miss allocates, the least recently used line goes",
       make_lru},
  };
  return registry;
}

const PolicyList& cache_policies() {
  return cache_policy_registry().list();
}

std::unique_ptr<CachePolicy> make_cache_policy(const PolicyChoice& choice) {
  return cache_policy_registry().factory(choice)(choice);
}

}  // namespace lockstep
