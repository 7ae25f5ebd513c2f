/// Every registered placement; registering one enrols it.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random/random.hpp"
#include "models/gpu/placement/placement.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test::placement_contract_test {
namespace {

class PlacementContract : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<TenantPlacement> make() const {
    return make_placement(policy_named(placement_policies(), GetParam()));
  }
  /// Loads as drawn, some over-subscribed.
  static std::vector<GpuLoad> draw_loads(Random& random, std::size_t count) {
    std::vector<GpuLoad> gpus;
    for (std::size_t i = 0; i < count; ++i)
      gpus.push_back({random.below(1 << 20), random.below(1 << 20),
                      static_cast<std::uint32_t>(random.below(8))});
    return gpus;
  }
};

TEST_P(PlacementContract, NamesAGpuThatIsThere) {
  const auto placement = make();
  Random random(1, ComponentId::none(), 0);
  for (std::uint32_t number = 0; number < 1000; ++number) {
    const std::vector<GpuLoad> gpus = draw_loads(random, 1 + random.below(9));
    const std::uint32_t chosen =
        placement->choose(gpus, {number, random.below(1 << 21), random.next_uint64()});
    ASSERT_LT(chosen, gpus.size());
  }
}

TEST_P(PlacementContract, DependsOnItsArgumentsAlone) {
  const auto one = make(), other = make();
  Random random(2, ComponentId::none(), 0);
  for (std::uint32_t number = 0; number < 1000; ++number) {
    const std::vector<GpuLoad> gpus = draw_loads(random, 1 + random.below(9));
    const TenantToPlace tenant{number, random.below(1 << 21), 7};
    const std::uint32_t chosen = one->choose(gpus, tenant);
    for (std::uint32_t others = 0; others < number % 3; ++others)
      other->choose(gpus, {number + others, 1, 3});
    ASSERT_EQ(other->choose(gpus, tenant), chosen);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlacementContract, testing::ValuesIn(names_of(placements().rows())),
                         NamedByPolicy());

}  // namespace
}  // namespace lockstep::test::placement_contract_test
