/// Every registered peer policy; registering one enrols it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

/// Faults at random, with what the policy has noted of those before.
std::vector<PeerFault> faults_noted_by(const PeerPolicy& policy) {
  std::mt19937_64 random(7);
  std::vector<PeerFault> faults;
  PeerHistory history;
  Time now;
  for (unsigned round = 0; round < 500; ++round) {
    now += Time{static_cast<std::int64_t>(random() % 2'000'000'000'000)};
    faults.push_back({random() % 3 == 0, random() % 2 == 0,
                      static_cast<std::uint32_t>(random() % 3), now, history});
    policy.note(faults.back(), history);
  }
  return faults;
}

TEST_P(PeerPolicyContract, CopiesReadsOnly) {
  const auto policy = make();
  for (const PeerFault& fault : faults_noted_by(*policy)) {
    if (policy->way(fault) != PeerWay::copy) continue;
    EXPECT_FALSE(fault.write);
    EXPECT_TRUE(policy->copies_reads() || policy->copies_reads(fault.history));
  }
}

TEST_P(PeerPolicyContract, MapsReachablePagesOnlyAndCountsNothingThatItDoesNotMap) {
  const auto policy = make();
  bool maps = false;
  for (const PeerFault& fault : faults_noted_by(*policy)) {
    if (policy->way(fault) != PeerWay::map) continue;
    maps = true;
    EXPECT_TRUE(fault.is_reachable);
  }
  EXPECT_TRUE(maps || policy->counts_to() == 0);
}

TEST_P(PeerPolicyContract, DependsOnItsArgumentsAlone) {
  const auto one = make(), other = make();
  const std::vector<PeerFault> faults = faults_noted_by(*one);
  std::vector<PeerWay> ways;
  for (const PeerFault& fault : faults) ways.push_back(one->way(fault));
  for (std::size_t i = faults.size(); i-- > 0;) {
    EXPECT_EQ(other->way(faults[i]), ways[i]);
    EXPECT_EQ(other->stays(faults[i].history), one->stays(faults[i].history));
    EXPECT_GE(one->stays(faults[i].history), Time::zero());
  }
}

INSTANTIATE_TEST_SUITE_P(All, PeerPolicyContract,
                         testing::ValuesIn(names_of(peer_policy_registry().rows())),
                         NamedByPolicy());

}  // namespace
}  // namespace lockstep::test::peer_policy_contract_test
