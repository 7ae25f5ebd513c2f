#include "tests/unit/core/engine/phold.hpp"

#include <gtest/gtest.h>

#include "core/time/time.hpp"
#include "tests/unit/core/engine/layouts.hpp"

namespace lockstep::phold_test {
namespace {

using namespace literals;

std::uint64_t digest(const Component& component) {
  return static_cast<const phold::Holder&>(component).digest();
}

TEST(QuickExponential, FollowsTheLogarithm) {
  const phold::QuickExponential exponential;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 65537 - bits % 7) {
    const double u = (static_cast<double>(bits) + 0.5) * 0x1.0p-32;
    ASSERT_NEAR(static_cast<double>(exponential(static_cast<std::uint32_t>(bits))) * 0x1.0p-32,
                -fixed_log(u), 2e-6)
        << bits;
  }
  EXPECT_LT(exponential(~0u), 1u << 14) << "near 0, and never below";
}

class Phold : public ::testing::Test {
 protected:
  Phold() {
    parameters_.components = 96;
    parameters_.events_per_component = 2;
    parameters_.remote_probability = 0.4;
    graph_ = phold::graph(parameters_);
    options_.epoch = 20_ns;
    options_.stop_at = 150_ns;
  }

  test::Outcome run(int ranks, int threads) {
    options_.threads = threads;
    return test::run_layout(graph_, phold::factory(parameters_), ranks, options_, digest);
  }

  phold::Parameters parameters_;
  Graph graph_;
  EngineOptions options_;
};

TEST_F(Phold, EveryLayoutEndsInTheSameState) {
  const test::Outcome serial = run(1, 1);
  EXPECT_EQ(serial.end, 150_ns);
  EXPECT_EQ(serial.epochs.size(), 8u);
  for (const auto& [id, value] : serial.digests) EXPECT_NE(value, 0u) << id;
  EXPECT_EQ(serial, run(1, 2));
  EXPECT_EQ(serial, run(1, 4));
  EXPECT_EQ(serial, run(2, 1));
  EXPECT_EQ(serial, run(3, 1));
  EXPECT_EQ(serial, run(2, 2));
}

TEST_F(Phold, SixtyFourRanksEndInTheSameState) {
  options_.stop_at = 40_ns;
  EXPECT_EQ(run(1, 1), run(64, 1));
}

TEST_F(Phold, WindowsCutAtRandomTimesDoNotMatter) {
  const test::Outcome whole = run(1, 1);
  options_.pacing = Pacing::random_cuts;
  for (options_.test_seed = 1; options_.test_seed <= 5; ++options_.test_seed) {
    EXPECT_EQ(whole, run(1, 1));
    EXPECT_EQ(whole, run(2, 2));
  }
}

TEST_F(Phold, TheOrderOfComponentsDoesNotMatter) {
  const test::Outcome ordered = run(1, 1);
  options_.shuffle = true;
  for (options_.test_seed = 1; options_.test_seed <= 5; ++options_.test_seed) {
    EXPECT_EQ(ordered, run(1, 1));
    EXPECT_EQ(ordered, run(2, 2));
  }
}

TEST_F(Phold, OneActivityAtATimeIsTheSame) {
  options_.stop_at = 40_ns;
  const test::Outcome windows = run(1, 1);
  options_.pacing = Pacing::one_activity;
  EXPECT_EQ(windows, run(1, 1));
  EXPECT_EQ(windows, run(2, 1));
}

TEST_F(Phold, ALongRunOnManyThreadsIsTheSame) {
  parameters_.components = 512;
  graph_ = phold::graph(parameters_);
  options_.stop_at = 600_ns;
  const test::Outcome serial = run(1, 1);
  EXPECT_EQ(serial, run(1, 2));
  EXPECT_EQ(serial, run(1, 7));
}

}  // namespace
}  // namespace lockstep::phold_test
