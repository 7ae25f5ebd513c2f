#include "models/gpu/metrics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::metrics_test {
namespace {

// One runs at half its speed, the other at four fifths: slowdowns 2 and 1.25.
const std::vector<TenantSpeed> two{{2.0, 1.0}, {5.0, 4.0}};
const std::vector<TenantSpeed> undisturbed{{2.0, 2.0}, {5.0, 5.0}, {0.5, 0.5}};

TEST(Metrics, SlowdownIsTheTimeOfTheSameWork) {
  EXPECT_DOUBLE_EQ(two[0].slowdown(), 2.0);
  EXPECT_DOUBLE_EQ(two[1].slowdown(), 1.25);
}

TEST(Metrics, WeightedSpeedupAddsSpeedups) {
  EXPECT_DOUBLE_EQ(weighted_speedup(two), 0.5 + 0.8);
}

TEST(Metrics, HarmonicSpeedupIsTheHarmonicMeanOfSpeedups) {
  EXPECT_DOUBLE_EQ(harmonic_speedup(two), 2 / (2.0 + 1.25));
}

TEST(Metrics, MaximumSlowdownIsThatOfWhoSuffersMost) {
  EXPECT_DOUBLE_EQ(maximum_slowdown(two), 2.0);
}

TEST(Metrics, ThroughputAddsWhatIsExecuted) {
  EXPECT_DOUBLE_EQ(ipc_throughput(two), 5.0);
}

TEST(Metrics, NobodyIsSlowedDownWithoutInterference) {
  EXPECT_DOUBLE_EQ(weighted_speedup(undisturbed), 3.0);
  EXPECT_DOUBLE_EQ(harmonic_speedup(undisturbed), 1.0);
  EXPECT_DOUBLE_EQ(maximum_slowdown(undisturbed), 1.0);
}

TEST(Metrics, SpeedupAloneCountsAsMuchAsItIs) {
  const std::vector<TenantSpeed> faster{{1.0, 2.0}, {1.0, 1.0}};
  EXPECT_DOUBLE_EQ(weighted_speedup(faster), 3.0);
  EXPECT_DOUBLE_EQ(harmonic_speedup(faster), 2 / 1.5);
  EXPECT_DOUBLE_EQ(maximum_slowdown(faster), 1.0);
}

}  // namespace
}  // namespace lockstep::metrics_test
