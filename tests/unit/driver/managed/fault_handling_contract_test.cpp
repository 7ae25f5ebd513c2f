/// What every registered fault handling must keep: each page that faulted is told to the GMMU, with
/// its bytes; what is forgotten is not; nothing happens by itself; the same after saving and
/// restoring.  Registering one enrols it.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::fault_handling_contract_test {
namespace {

using namespace literals;

class FaultHandlingContract : public testing::TestWithParam<std::string> {
 protected:
  static DriverWorld::Options options() {
    DriverWorld::Options result;
    result.fault_handling = GetParam();
    result.prefetcher = "sequential-local";
    return result;
  }
  /// Faults at random times on random pages, some of which hold nothing and some of which fault
  /// again while they are on their way.
  std::set<std::uint64_t> fault_at_random(DriverWorld& world) {
    std::set<std::uint64_t> pages;
    for (std::uint64_t page = 0; page < world.pages(); page += 5) world.untouched(page);
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t page = random_() % world.pages();
      world.fault({page}, static_cast<std::int64_t>(random_() % 200'000));
      pages.insert(page);
    }
    return pages;
  }
  static std::set<std::uint64_t> told(const DriverWorld& world) {
    std::set<std::uint64_t> pages;
    for (const auto& heard : world.mapped)
      for (std::size_t i = 0; i < heard.entries.size(); ++i) pages.insert(heard.page + i);
    return pages;
  }

  std::mt19937_64 random_{11};
};

TEST_P(FaultHandlingContract, EveryPageThatFaultedIsToldOfWithItsBytes) {
  DriverWorld world(options());
  const std::set<std::uint64_t> faulted = fault_at_random(world);
  world.run();
  const std::set<std::uint64_t> heard = told(world);
  for (const std::uint64_t page : faulted) {
    EXPECT_TRUE(heard.contains(page)) << page;
    ASSERT_TRUE(world.on_gpu(page)) << page;
    EXPECT_EQ(world.gpu_byte(page, 77), page % 5 == 0 ? std::byte{0} : world.host_byte(page, 77));
  }
  EXPECT_EQ(world.managed().waiting_for(), "");
}

TEST_P(FaultHandlingContract, FaultsOfATenantThatEndsAreForgotten) {
  DriverWorld world(options());
  world.fault({3, 20, 40});
  world.run(world.now() + 1_us);  // the driver has heard of them
  const std::size_t before = world.mapped.size() + world.statistics().fault_batches[0].value();
  world.managed().forget_faults(DriverWorld::tenant);
  world.run();
  EXPECT_TRUE(world.mapped.empty() || before > 0) << "nothing was served before";
}

TEST_P(FaultHandlingContract, ActsWhenItSaysSo) {
  DriverWorld world(options());
  world.fault({3});
  world.run(world.now() + 1_us);
  const Time next = world.managed().next_activity();
  const std::uint64_t served = world.statistics().fault_batches[0].value();
  ASSERT_TRUE(next != Time::never() || served > 0) << "it waits, or costs nothing";
  for (int i = 0; i < 3; ++i) world.managed().act(world.cycle());
  EXPECT_EQ(world.managed().next_activity(), next);
  EXPECT_EQ(world.statistics().fault_batches[0].value(), served);
}

TEST_P(FaultHandlingContract, GoesOnTheSameAfterSavingAndRestoring) {
  std::vector<std::vector<std::pair<std::int64_t, std::uint64_t>>> heard;
  for (const bool interrupted : {false, true}) {
    random_.seed(5);
    DriverWorld world(options());
    fault_at_random(world);
    const Time start = world.now();
    for (int i = 0; interrupted && i < 40; ++i) {
      world.run(start + Time{i * 5'000'000'000});
      world.save_and_restore_managed();
    }
    world.run();
    auto& times = heard.emplace_back();
    for (const auto& mapped : world.mapped) times.emplace_back(mapped.ns, mapped.page);
  }
  EXPECT_EQ(heard[0], heard[1]);
}

INSTANTIATE_TEST_SUITE_P(Every, FaultHandlingContract,
                         testing::ValuesIn(policy_variants(fault_handling_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::test::fault_handling_contract_test
