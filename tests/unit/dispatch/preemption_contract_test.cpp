/// What every registered preemption must keep, with other values of each of its parameters: what
/// it says it needs goes together; each block of an SM gets one command that it can follow, and the
/// costs of all add up; it decides the same whenever it is asked and wherever its object lies.
/// Registering one enrols it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <set>

#include "models/dispatch/preemption/preemption.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/harness/policy_variants.hpp"

namespace lockstep::preemption_contract_test {
namespace {

/// An SM with some blocks, and what is known of their kernel.
struct Situation {
  explicit Situation(unsigned seed) : random(seed) {
    const auto number = [&](std::uint64_t most) { return random() % most; };
    for (std::uint64_t block = 0, blocks = number(9); block < blocks; ++block) {
      BlockStatus status;
      status.block = 100 + block;
      status.work = {{number(2000), 32 * number(2000)}, number(5000)};
      status.idempotent = number(2) == 0;
      status.faulted = number(5) == 0;
      sm.blocks.push_back(status);
    }
    for (std::uint64_t i = 0, blocks = number(4); i < blocks; ++i)
      know({{1 + number(2000), 0}, number(5000)});
    for (std::uint64_t i = 0; i < 120; ++i)
      durations.push_back(Time{static_cast<std::int64_t>(number(20'000'000'000))});
    kernel.finished = &finished;
    if (number(4) > 0) kernel.lengths = &lengths;
    for (const BlockStatus& status : sm.blocks) kernel.running.add(status.work);
    kernel.context_bytes = number(100'000);
    if (number(2) == 0) kernel.undisturbed = &durations;
    if (number(3) == 0) kernel.mean_save = Time{static_cast<std::int64_t>(number(9'000'000'000))};
    machine.share = {1'000'000'000};
    if (number(3) == 0) machine.page_wait = Time{20'000'000'000};
    bound = number(4) == 0 ? Time::never() : Time{static_cast<std::int64_t>(number(9'000'000'000))};
  }

  void know(const BlockWork& work) {
    finished.add(work);
    lengths.add(work);
  }

  std::mt19937 random;
  SmStatus sm;
  KernelHistory finished;
  BlockLengths lengths;
  BlockProfile::Durations durations;
  VictimKernel kernel;
  PreemptionMachine machine;
  Time bound;
};

class PreemptionContract : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Preemption> make() {
    return make_preemption(policy_written<preemption_policies>(GetParam()));
  }
  static SmRelease decide(const Preemption& policy, const Situation& s) {
    return policy.decide(s.sm, s.kernel, s.machine, s.bound);
  }
};

TEST_P(PreemptionContract, ItsStepsGoTogether) {
  const PreemptionSteps steps = make()->steps();
  EXPECT_TRUE(steps.take || !(steps.save || steps.flush || steps.ask || steps.share))
      << "only SMs that are taken have blocks that make room";
  EXPECT_TRUE(steps.ask || !steps.share) << "places are chosen by the state of blocks";
  if (!steps.take) return;
  EXPECT_TRUE(steps.save || steps.take->others != Technique::save);
  EXPECT_TRUE(steps.flush || steps.take->others != Technique::flush);
  EXPECT_GE(steps.take->drain_limit, Time::zero());
}

class DecidingPreemption : public PreemptionContract {};

TEST_P(DecidingPreemption, EachBlockGetsOneCommandThatItCanFollow) {
  const auto policy = make();
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Situation situation(seed);
    const SmRelease release = decide(*policy, situation);
    std::set<std::uint64_t> told;
    std::uint64_t overhead = 0;
    Time latency = Time::zero();
    for (const SmRelease::Block& one : release.blocks) {
      EXPECT_TRUE(told.insert(one.command.block).second);
      const auto status =
          std::find_if(situation.sm.blocks.begin(), situation.sm.blocks.end(),
                       [&](const BlockStatus& known) { return known.block == one.command.block; });
      ASSERT_NE(status, situation.sm.blocks.end()) << "a block that is not there";
      if (one.command.technique == Technique::flush) {
        EXPECT_TRUE(policy->steps().flush && status->idempotent == 1);
      }
      if (one.command.technique == Technique::save) {
        EXPECT_TRUE(policy->steps().save.has_value());
      }
      EXPECT_EQ(one.before.block, one.command.block);
      overhead += one.overhead;
      latency = std::max(latency, one.latency);
    }
    EXPECT_LE(told.size(), situation.sm.blocks.size());
    if (!policy->steps().share) {
      EXPECT_EQ(told.size(), situation.sm.blocks.size()) << "all of the SM is to be free";
      EXPECT_EQ(release.latency, latency);
      EXPECT_EQ(release.overhead, overhead);
    }
  }
}

TEST_P(PreemptionContract, DecidesTheSameWheneverItIsAskedAndWhereverItLies) {
  const auto policy = make();
  const auto others = std::make_unique<std::array<std::unique_ptr<Preemption>, 2>>();
  *others = {make(), make()};
  const auto text = [](const SmRelease& release) {
    std::string all = std::to_string(release.latency.femtoseconds()) + " " +
                      std::to_string(release.overhead) + " " + std::to_string(release.places);
    for (const SmRelease::Block& one : release.blocks)
      all += " " + std::to_string(one.command.block) + ":" +
             std::to_string(static_cast<int>(one.command.technique));
    return all;
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Situation situation(seed);
    const std::string expected = text(decide(*policy, situation));
    EXPECT_EQ(text(decide(*policy, situation)), expected) << seed;
    EXPECT_EQ(text(decide(*(*others)[1], situation)), expected) << seed;
  }
}

/// Returns variants that decide by what blocks have done.
std::vector<std::string> deciding() {
  std::vector<std::string> all = policy_variants(preemption_policies());
  std::erase_if(all, [](const std::string& variant) {
    return !steps_of(policy_written<preemption_policies>(variant)).ask;
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, DecidingPreemption, testing::ValuesIn(deciding()),
                         [](const auto& test) { return variant_name(test.param); });
INSTANTIATE_TEST_SUITE_P(Every, PreemptionContract,
                         testing::ValuesIn(policy_variants(preemption_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::preemption_contract_test
