/// Every registered peer policy; registering one enrols it.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/driver/peer_policy/peer_policy.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test::peer_policy_contract_test {
namespace {

class PeerPolicyContract : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<PeerPolicy> make() const {
    return make_peer_policy(policy_named(peer_policies(), GetParam()));
  }
};

TEST_P(PeerPolicyContract, AStoreNeedsThePageAlone) {
  const auto policy = make();
  EXPECT_EQ(policy->way({true}), PeerWay::move);
  EXPECT_TRUE(policy->copies_reads() || policy->way({false}) != PeerWay::copy);
}

TEST_P(PeerPolicyContract, DependsOnItsArgumentsAlone) {
  const auto one = make(), other = make();
  for (unsigned round = 0; round < 20; ++round) {
    const PeerFault fault{round % 3 == 0};
    const PeerWay way = one->way(fault);
    for (unsigned more = 0; more < round % 4; ++more) other->way({more % 2 == 0});
    EXPECT_EQ(other->way(fault), way);
  }
  EXPECT_GE(one->stays(), Time::zero());
  EXPECT_EQ(one->stays(), other->stays());
}

INSTANTIATE_TEST_SUITE_P(All, PeerPolicyContract, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const PeerPolicyRow& row : peer_policy_registry().rows())
                             names.push_back(row.name);
                           return names;
                         }()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep::test::peer_policy_contract_test
