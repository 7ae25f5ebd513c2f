/// What every registered warp scheduler must keep: it issues who can and nobody else, nobody who
/// can always issue starves, the same choices after saving and restoring, and wherever it stands in
/// this computer's memory.  Registering one enrols it.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <memory>
#include <random>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "models/sm/warp_scheduler/warp_scheduler.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/harness/policy_variants.hpp"

namespace lockstep::warp_scheduler_contract_test {
namespace {

constexpr unsigned schedulers = 4;

/// Warps that come, begin to wait and leave, and ask to issue.
class Traffic {
 public:
  explicit Traffic(unsigned seed) : random_(seed) {}

  /// A step: the scheduler's choice, or 64 if nobody could issue.
  unsigned step(WarpScheduler& scheduler) {
    return std::visit([&](auto& policy) { return step_with(policy); }, scheduler);
  }
  std::uint64_t candidates() const { return candidates_; }

 private:
  template <class Policy>
  unsigned step_with(Policy& policy) {
    const unsigned slot = random_() % 64, side = slot % schedulers;
    const std::uint64_t bit = std::uint64_t{1} << slot;
    if ((resident_ & bit) == 0) {
      resident_ |= bit;
      policy.added(side, slot);
    } else if (random_() % 16 == 0) {
      resident_ &= ~bit;
      policy.removed(side, slot);
    }
    candidates_ =
        resident_ & (std::uint64_t{random_()} << 32 | random_()) & (0x1111111111111111u << side);
    if (candidates_ == 0) return 64;
    const unsigned chosen = policy.choose(side, candidates_);
    if (random_() % 4 == 0) policy.stalled(side, chosen);
    return chosen;
  }

  std::mt19937 random_;
  std::uint64_t resident_ = 0, candidates_ = 0;
};

class WarpSchedulerContract : public testing::TestWithParam<std::string> {
 protected:
  static WarpScheduler make() {
    return make_warp_scheduler(policy_written<warp_scheduler_policies>(GetParam()), schedulers);
  }
};

TEST_P(WarpSchedulerContract, ChoosesOneOfThoseThatCan) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    WarpScheduler scheduler = make();
    Traffic traffic(seed);
    for (int i = 0; i < 2000; ++i) {
      if (const unsigned chosen = traffic.step(scheduler); chosen < 64) {
        ASSERT_TRUE((traffic.candidates() >> chosen) & 1) << seed << ' ' << i;
      }
    }
  }
}

TEST_P(WarpSchedulerContract, EveryWarpIssuesWhenOthersHaveToWait) {
  // Whoever has issued waits until all others have: a greedy scheduler may prefer one that can go
  // on, but must not pass over one that is alone.
  WarpScheduler scheduler = make();
  std::visit(
      [&](auto& policy) {
        for (unsigned warp = 1; warp < 64; warp += schedulers) policy.added(1, warp);
        for (int round = 0; round < 50; ++round) {
          std::uint64_t left = 0x2222222222222222u;
          for (int turn = 0; turn < 16; ++turn) {
            const unsigned chosen = policy.choose(1, left);
            ASSERT_TRUE((left >> chosen) & 1);
            left &= ~(std::uint64_t{1} << chosen);
            if (turn % 3 == 0) policy.stalled(1, chosen);
          }
          ASSERT_EQ(left, 0u);
        }
      },
      scheduler);
}

TEST_P(WarpSchedulerContract, ServesAllOfAnAlwaysReadyGroupUnlessItIsGreedy) {
  // Greedy-then-oldest says so on purpose: the warp that issued last goes on as long as it can.
  WarpScheduler scheduler = make();
  std::visit(
      [&](auto& policy) {
        std::uint64_t issued = 0;
        for (unsigned warp = 0; warp < 64; warp += schedulers) policy.added(0, warp);
        for (int i = 0; i < 400; ++i) {
          const unsigned chosen = policy.choose(0, 0x1111111111111111u);
          issued |= std::uint64_t{1} << chosen;
          policy.stalled(0, chosen);
        }
        if (policy.starves_others) {
          EXPECT_EQ(std::popcount(issued), 1);
        } else {
          EXPECT_EQ(issued, 0x1111111111111111u);
        }
      },
      scheduler);
}

TEST_P(WarpSchedulerContract, ChoosesTheSameAfterSavingAndRestoring) {
  WarpScheduler whole = make();
  Traffic traffic(3);
  for (int i = 0; i < 1000; ++i) traffic.step(whole);
  std::ostringstream out;
  {
    Archive archive = Archive::saving(out);
    std::visit([&](auto& policy) { policy.serialize(archive); }, whole);
  }
  WarpScheduler restored = make();
  std::istringstream in(out.str());
  Archive archive = Archive::restoring(in);
  std::visit([&](auto& policy) { policy.serialize(archive); }, restored);
  Traffic same = traffic;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(traffic.step(whole), same.step(restored)) << i;
}

TEST_P(WarpSchedulerContract, ChoosesTheSameWhereverItStands) {
  WarpScheduler here = make();
  const auto elsewhere =
      std::make_unique<std::array<WarpScheduler, 2>>(std::array<WarpScheduler, 2>{make(), make()});
  Traffic traffic(8), same = traffic;
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(traffic.step(here), same.step((*elsewhere)[1])) << i;
}

INSTANTIATE_TEST_SUITE_P(EveryScheduler, WarpSchedulerContract,
                         testing::ValuesIn(policy_variants(warp_scheduler_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::warp_scheduler_contract_test
