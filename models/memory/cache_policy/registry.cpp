#include "core/parameters/registered.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/replacement/replacement.hpp"

namespace lockstep {

const PolicyRegistry<CachePolicyFactory>& cache_policy_registry() {
  static const PolicyRegistry<CachePolicyFactory> registry{
      LOCKSTEP_REGISTERED(CachePolicyFactory, lru_cache_policy),
      LOCKSTEP_REGISTERED(CachePolicyFactory, medic_cache_policy),
      LOCKSTEP_REGISTERED(CachePolicyFactory, random_cache_policy),
      LOCKSTEP_REGISTERED(CachePolicyFactory, pc_bypass_cache_policy),
      LOCKSTEP_REGISTERED(CachePolicyFactory, pcal_cache_policy),
      LOCKSTEP_REGISTERED(CachePolicyFactory, eaf_cache_policy),
      LOCKSTEP_REGISTERED(CachePolicyFactory, mask_cache_policy),
  };
  return registry;
}

const PolicyList& cache_policies() {
  return cache_policy_registry().list();
}

PolicyNeed needs_order_of_lines(std::string why) {
  return {.plug_point = "replacement",
          .trait = orders_lines,
          .why = std::move(why),
          .other = "has no order of lines",
          .advice = "choose replacement: lru, srrip or drrip"};
}

std::unique_ptr<CachePolicy> make_cache_policy(const PartitionPolicySetup& setup) {
  return cache_policy_registry().factory(setup.choice).make(setup);
}

}  // namespace lockstep
