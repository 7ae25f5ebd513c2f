/// Every registered policy, with each word of its parameters, is met in the middle of its work: a
/// run saved while pages are waited for, in a GPU memory too small for its tenants, goes on in
/// another layout as if nothing had happened, and what was just restored saves as the same bytes.
/// Registering a policy enrols it.
#include <gtest/gtest.h>

#include "models/dispatch/preemption/preemption.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "models/driver/eviction/eviction.hpp"
#include "models/driver/managed/fault_handling/fault_handling.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/driver/prefetch/prefetcher.hpp"
#include "models/host/host.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/replacement/replacement.hpp"
#include "models/sm/block_switching/registry.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/warp_scheduler/registry.hpp"
#include "models/vm/tlb_fill/tlb_fill.hpp"
#include "models/vm/translation/translation.hpp"
#include "tests/harness/policy_variants.hpp"
#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::policy_interruption_test {
namespace {

struct Choice {
  std::string plug_point, variant;
};

std::vector<Choice> all_choices() {
  const std::pair<const char*, const PolicyList&> plug_points[] = {
      {"warp_scheduler", warp_scheduler_policies()},
      {"exception_scheme", exception_scheme_policies()},
      {"block_switching", block_switching_policies()},
      {"cache_policy", cache_policies()},
      {"replacement", replacement_policies()},
      {"dram_scheduler", dram_scheduler_policies()},
      {"translation", translation_policies()},
      {"tlb_fill", tlb_fill_policies()},
      {"page_manager", page_manager_policies()},
      {"fault_handling", fault_handling_policies()},
      {"prefetcher", prefetcher_policies()},
      {"eviction", eviction_policies()},
      {"sharing", sharing_policies()},
      {"preemption", preemption_policies()}};
  std::vector<Choice> all;
  for (const auto& [plug_point, policies] : plug_points)
    for (const std::string& variant : worded_variants(policies))
      all.push_back({plug_point, variant});
  return all;
}

/// What a policy needs of the rest of a machine.
std::vector<std::string> beside(const Choice& choice) {
  const std::string& name = choice.variant;
  if (choice.plug_point == "dram_scheduler" && name.find("sms") != std::string::npos)
    return {"gpu.memory.dram.write_queue=0"};
  if (choice.plug_point == "dram_scheduler" && name.find("medic") != std::string::npos)
    return {"policies.cache_policy={name: medic, resample: 1500, profile: 3}"};
  const bool mask_scheduler =
      choice.plug_point == "dram_scheduler" && name.find("mask") != std::string::npos;
  if (mask_scheduler)
    return {"policies.translation=shared-tlb", "policies.tlb_fill={name: mask, epoch: 1500}"};
  // Every replacement goes with a cache policy that asks for no order of lines.
  if (choice.plug_point == "replacement")
    return {"policies.cache_policy=lru", "policies.dram_scheduler=fr-fcfs"};
  if (choice.plug_point == "tlb_fill") return {"policies.translation=shared-tlb"};
  if (choice.plug_point == "block_switching" && name != "none")
    return {"policies.exception_scheme=replay-queue", "policies.fault_handling=host"};
  // Preemption and block switching would both save blocks, and need the same context for that.
  if (choice.plug_point == "sharing" && name.find("time-sliced") != std::string::npos)
    return {"policies.exception_scheme=replay-queue", "policies.fault_handling=host",
            "policies.preemption=switch", "policies.block_switching=none"};
  if (choice.plug_point == "preemption")
    return {"policies.exception_scheme=replay-queue", "policies.fault_handling=host",
            "policies.sharing=exclusive", "policies.block_switching=none"};
  // Only what stalls can stand in a blocked TLB.
  if (choice.plug_point == "exception_scheme") return {"policies.fault_handling=host"};
  if (choice.plug_point == "fault_handling" && name.find("block-tlb") != std::string::npos)
    return {"policies.exception_scheme=stall-on-fault"};
  if (choice.plug_point == "page_manager" && (name == "large-pages" || name == "mosaic"))
    return {"policies.fault_handling=host", "gpu.memory.capacity=24MiB", "gpu.noc.mapping=frame",
            "policies.exception_scheme=stall-on-fault"};
  return {};
}

/// A small pool of zeroed frames, in a memory that has room for it.
std::vector<std::string> with(const Choice& choice) {
  std::vector<std::string> settings{"policies." + choice.plug_point + "=" + choice.variant};
  if (choice.plug_point == "fault_handling" && choice.variant.find("local") != std::string::npos) {
    if (choice.variant == "local") settings.back() = "policies.fault_handling={name: local}";
    settings.push_back("policies.fault_handling.pool=1");
    settings.push_back("policies.page_manager=base-pages");
  }
  return settings;
}

class PolicyInterruption : public ::testing::TestWithParam<Choice> {};

TEST_P(PolicyInterruption, ChangesNothing) {
  constexpr std::uint64_t most_seeds = 12;
  if (cases_to_run(most_seeds) < 10 && GetParam().variant.starts_with('{'))
    GTEST_SKIP() << "few cases: usual parameters only";
  bool met = false;
  for (std::uint64_t seed = first_seed(1); seed <= most_seeds && !met; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const HangGuard guard("seed " + std::to_string(seed));
    const RandomProgram one(seed * 100), other(seed * 100 + 1);
    std::vector<std::string> settings = random_paged_machine(seed, 2);
    for (const std::string& setting : beside(GetParam())) settings.push_back(setting);
    for (const std::string& setting : with(GetParam())) settings.push_back(setting);
    settings.push_back("simulation.record_faults=true");
    settings.push_back("gpu.sm.count=4");
    MachineBench bench(
        {{one.ptx(), with_managed_memory(one.workload(), seed), ""},
         {other.ptx(), with_managed_memory(other.workload(), seed + 1),
          GetParam().plug_point == "preemption" ? "priority: 1, latency_bound: 1us" : ""}},
        settings);
    const MachineResult whole = bench.run(Layout{});
    ASSERT_EQ(whole.problem, "") << describe(seed, Layout{}, settings);
    unsigned meetings = 2;  // with pages that are waited for
    const MachineResult resumed = bench.run_interrupted(
        Layout::interrupted(seed),
        [&](const Host& host) {
          return !host.only_part().managed().waiting_for().empty() && --meetings == 0;
        },
        Layout::random(seed + 1));
    ASSERT_EQ(resumed.problem, "");
    EXPECT_EQ(bench.compare_statistics(whole, resumed), "");
    EXPECT_EQ(whole.faults, resumed.faults);
    met = resumed.interrupted;
  }
  EXPECT_TRUE(met) << "pages were never waited for";
}

INSTANTIATE_TEST_SUITE_P(All, PolicyInterruption, ::testing::ValuesIn(all_choices()),
                         [](const auto& choice) {
                           return variant_name(choice.param.plug_point) + "_" +
                                  variant_name(choice.param.variant);
                         });

}  // namespace
}  // namespace lockstep::testing::policy_interruption_test
