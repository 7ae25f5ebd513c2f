#pragma once

#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test {

inline PartitionPolicySetup policy_setup(const PolicyList& list, const std::string& name,
                                         const MemoryParameters& parameters,
                                         std::size_t tenants = 2) {
  return {policy_named(list, name), parameters, PartitionId{0}, tenants, 1, ComponentId{0}};
}
inline std::unique_ptr<CachePolicy> cache_policy_named(
    const std::string& name, const MemoryParameters& parameters = defaults<MemoryParameters>()) {
  return make_cache_policy(policy_setup(cache_policies(), name, parameters));
}
inline std::unique_ptr<DramScheduler> dram_scheduler_named(
    const std::string& name, const MemoryParameters& parameters = defaults<MemoryParameters>()) {
  return make_dram_scheduler(policy_setup(dram_scheduler_policies(), name, parameters));
}

}  // namespace lockstep::test
