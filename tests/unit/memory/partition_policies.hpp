#pragma once

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/replacement/replacement.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test {

inline PartitionPolicySetup policy_setup(const PolicyChoice& choice,
                                         const MemoryParameters& parameters,
                                         std::size_t tenants = 2) {
  return {choice, parameters, PartitionId{0}, tenants, 1, ComponentId{0}};
}
inline std::unique_ptr<CachePolicy> cache_policy_named(
    const std::string& name, const MemoryParameters& parameters = defaults<MemoryParameters>()) {
  return make_cache_policy(policy_setup(policy_named(cache_policies(), name), parameters));
}

inline std::unique_ptr<Replacement> replacement_named(
    const std::string& name, const MemoryParameters& parameters = defaults<MemoryParameters>()) {
  return make_replacement(policy_setup(policy_named(replacement_policies(), name), parameters));
}

/// What a scenario may say under `policies.dram_scheduler`: "atlas", "{name: atlas, starve: 0}".
inline PolicyChoice dram_scheduler_choice(const std::string& text) {
  struct Policies {
    PolicyChoice dram_scheduler;
    static auto schema() {
      return parameters<Policies>().policy("dram_scheduler", &Policies::dram_scheduler, "fr-fcfs",
                                           dram_scheduler_policies, "tested");
    }
  };
  return read_parameters<Policies>(parse_document("dram_scheduler: " + text, "test"))
      .dram_scheduler;
}
inline std::unique_ptr<DramScheduler> dram_scheduler_named(
    const std::string& text, const MemoryParameters& parameters = defaults<MemoryParameters>(),
    std::size_t tenants = 2) {
  return make_dram_scheduler(policy_setup(dram_scheduler_choice(text), parameters, tenants));
}

}  // namespace lockstep::test
