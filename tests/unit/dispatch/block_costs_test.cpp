/// What it costs to take a block's place by each technique, and which is chosen.
/// Source: 003, section 3.3.2 and Table 4.2; preemption.md, sections 7.2, 7.3 and 10.2.
#include "models/dispatch/victims/block_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "models/dispatch/preemption/preemption.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep {
namespace {

constexpr Time microseconds(double us) {
  return Time{static_cast<std::int64_t>(us * 1e9)};
}

/// 003's machine: 177.4 GB/s for 15 SMs of 1.4 GHz.
const PreemptionMachine shieh{Clock(Frequency{1.4e9}), {177'400'000'000 / 15}};
/// A cycle of 1 ns, a byte in 1 ns.
const PreemptionMachine plain{Clock(Frequency{1e9}), {1'000'000'000}};

BlockStatus block(std::uint64_t executed, std::uint64_t cycles, bool idempotent = true,
                  std::uint64_t number = 0) {
  return {number, {{executed, 32 * executed}, cycles}, idempotent, 0, {}};
}

TEST(SwitchEstimate, IsTable42ToAHundredthOfAMicrosecond) {
  struct Row {
    const char* kernel;
    std::uint64_t registers, shared;
    double expected;
  };
  constexpr std::array rows = {
      Row{"pathfinder", 4096, 2048, 1.56},   Row{"hotspot", 9216, 3072, 3.38},
      Row{"streamcluster", 6144, 0, 2.08},   Row{"dwt2d copy", 3584, 3096, 1.47},
      Row{"dwt2d fdwt53", 3072, 768, 1.10},  Row{"kmeans invert", 3072, 3072, 1.30},
      Row{"kmeans point", 3072, 3072, 1.30}, Row{"stencil", 3584, 0, 1.21},
      Row{"srad_1", 5120, 6144, 2.25},       Row{"srad_2", 5120, 5120, 2.16},
      Row{"b+tree rangeK", 5120, 0, 1.73},   Row{"b+tree findK", 4096, 0, 1.39},
      Row{"nw", 1536, 2180, 0.70},           Row{"bfs", 8192, 0, 2.77},
      Row{"bfs 2", 6144, 0, 2.08},           Row{"backprop layer", 3072, 1088, 1.13},
      Row{"backprop adjust", 6144, 0, 2.08}, Row{"heartwall", 8192, 11872, 3.77},
  };
  std::array<int, 3> over{};
  for (const Row& row : rows) {
    const Time latency = shieh.share.time_of(4 * row.registers + row.shared);
    EXPECT_NEAR(static_cast<double>(latency.femtoseconds()) / 1e9, row.expected, 0.0051)
        << row.kernel;
    for (int us = 2; us <= 4; ++us)
      over[static_cast<std::size_t>(us - 2)] += latency > microseconds(us);
  }
  EXPECT_THAT(over, ::testing::ElementsAre(8, 2, 0)) << "over 2, 3 and 4 us";
}

TEST(BlockCosts, AFlushTakesNoTimeAndLosesWhatIsDone) {
  const BlockCost cost = flush_cost(block(700, 9000), plain);
  EXPECT_EQ(cost.latency, Time::zero());
  EXPECT_EQ(cost.overhead, 700u);
  EXPECT_FALSE(flush_cost(block(700, 9000, false), plain).possible());
}

TEST(BlockCosts, ASwitchLosesWhatTheBlockWouldHaveDoneInTwoTransfers) {
  KernelHistory nothing;
  const BlockCost cost = save_cost(block(500, 1000), {&nothing, {}, 300}, plain);
  EXPECT_EQ(cost.latency, Time{300'000'000});
  EXPECT_EQ(cost.overhead, 300u) << "half an instruction per cycle";
}

TEST(BlockCosts, WhoStallsForAPageGivesItsPlaceUpWhenThatHasCome) {
  PreemptionMachine stalling = plain;
  stalling.page_wait = Time{45'000'000'000};
  BlockStatus waits = block(500, 1000);
  waits.faulted = 1;
  KernelHistory nothing;
  const VictimKernel kernel{&nothing, {}, 300};
  EXPECT_EQ(save_cost(waits, kernel, stalling).latency, Time{45'300'000'000});
  EXPECT_EQ(save_cost(waits, kernel, stalling).overhead, 300u) << "it would do nothing meanwhile";
  EXPECT_EQ(flush_cost(waits, stalling).latency, Time{45'000'000'000});
  EXPECT_EQ(save_cost(waits, kernel, plain).latency, Time{300'000'000}) << "it is squashed";
  EXPECT_EQ(save_cost(block(500, 1000), kernel, stalling).latency, Time{300'000'000});
}

TEST(BlockCosts, ADrainTakesTheRestOfAMeanBlock) {
  KernelHistory finished;
  finished.add({{1000, 0}, 4000});
  finished.add({{3000, 0}, 12000});
  const BlockCost cost =
      drain_cost(block(500, 100), {&finished, {}, 0}, plain, {CpiPrediction::finished});
  EXPECT_EQ(cost.latency, Time{1500 * 4 * std::int64_t{1'000'000}});
  EXPECT_EQ(cost.overhead, 0u);
  EXPECT_EQ(
      drain_cost(block(2500, 100), {&finished, {}, 0}, plain, {CpiPrediction::finished}).latency,
      Time::zero())
      << "it has done more than a mean block";
}

TEST(BlockCosts, TheRestIsPredictedFromWhateverVariesLess) {
  KernelHistory finished, steady, wild;
  for (const std::uint64_t cycles : {2000, 6000}) finished.add({{1000, 0}, cycles});
  for (const std::uint64_t cycles : {1490, 1510}) steady.add({{500, 0}, cycles});
  for (const std::uint64_t cycles : {500, 9000}) wild.add({{500, 0}, cycles});
  const auto latency = [&](const KernelHistory& running) {
    return drain_cost(block(500, 1000), {&finished, running, 0}, plain, {CpiPrediction::steadier})
        .latency;
  };
  EXPECT_EQ(latency(steady), Time{500 * 2 * std::int64_t{1'000'000}}) << "its own: 2";
  EXPECT_EQ(latency(wild), Time{500 * 4 * std::int64_t{1'000'000}}) << "of finished blocks: 4";
}

TEST(BlockCosts, WhatIsNotKnownIsNeverChosen) {
  const KernelHistory nothing;
  KernelHistory finished;
  finished.add({{1000, 0}, 1000});
  const auto drain = [&](const BlockStatus& status, const KernelHistory& history) {
    return drain_cost(status, {&history, {}, 100}, plain, {CpiPrediction::steadier});
  };
  EXPECT_FALSE(drain(block(500, 1000), nothing).possible());
  EXPECT_FALSE(drain(block(0, 1000), finished).possible());
  BlockStatus faulted = block(500, 1000);
  faulted.faulted = 1;
  EXPECT_FALSE(drain(faulted, finished).possible()) << "the fault takes as long as it takes";
}

TEST(BlockCosts, ASwitchIsExpectedToTakeWhatOthersTookIfThatIsMeasured) {
  ContextHistory history;
  const auto latency = [&](SwitchEstimate estimate) {
    VictimKernel kernel{nullptr, {}, 300};
    kernel.mean_save = history.mean_save();
    return save_cost(block(500, 1000), kernel, plain, estimate).latency;
  };
  EXPECT_EQ(latency(SwitchEstimate::measured), Time{300'000'000}) << "nobody has left yet";
  history.left_after(microseconds(1));
  history.left_after(microseconds(2));
  EXPECT_EQ(latency(SwitchEstimate::measured), microseconds(1.5));
  EXPECT_EQ(latency(SwitchEstimate::share), Time{300'000'000});
}

TEST(BlockCosts, ABlockBeyondTheMeanIsAboutToEndOrNotDrained) {
  KernelHistory finished;
  finished.add({{1000, 0}, 4000});
  const auto drain = [&](std::uint64_t executed, BeyondMean beyond) {
    return drain_cost(block(executed, 100), {&finished, {}, 0}, plain, {.beyond_mean = beyond});
  };
  EXPECT_EQ(drain(1000, BeyondMean::done).latency, Time::zero());
  EXPECT_FALSE(drain(1000, BeyondMean::unknown).possible());
  EXPECT_TRUE(drain(999, BeyondMean::unknown).possible());
}

TEST(BlockLengths, ALengthIsAQuantileOfTheBlocksThatAreAtLeastAsLong) {
  BlockLengths lengths;
  EXPECT_EQ(lengths.of_block_with(1, 50), std::nullopt) << "none is known";
  for (const std::uint64_t length : {100, 100, 200, 300, 400, 400, 800})
    lengths.add({{length, 0}, 1});
  lengths.add({{0, 0}, 1});
  EXPECT_EQ(lengths.of_block_with(1, 50), 300u) << "four of seven";
  EXPECT_EQ(lengths.of_block_with(1, 28), 100u) << "two of seven";
  EXPECT_EQ(lengths.of_block_with(1, 29), 200u);
  EXPECT_EQ(lengths.of_block_with(101, 50), 400u) << "the third of 200, 300, 400, 400, 800";
  EXPECT_EQ(lengths.of_block_with(400, 66), 400u) << "two of three";
  EXPECT_EQ(lengths.of_block_with(400, 67), 800u);
  EXPECT_EQ(lengths.of_block_with(1, 100), 800u);
  EXPECT_EQ(lengths.of_block_with(800, 1), 800u) << "it may be about to end";
  EXPECT_EQ(lengths.of_block_with(801, 100), std::nullopt) << "none is as long";
}

TEST(BlockCosts, ALongBlockDrainsAsBlocksDidThatWereAsLong) {
  KernelHistory finished;
  BlockLengths lengths;
  for (const std::uint64_t length : {100, 100, 200, 800}) {
    finished.add({{length, 0}, 2 * length});
    lengths.add({{length, 0}, 2 * length});
  }
  const auto drain = [&](std::uint64_t executed, std::uint32_t percent) {
    return drain_cost(block(executed, 100), {&finished, {}, 0, nullptr, &lengths}, plain,
                      {.length = DrainEstimate::quantile, .percent = percent});
  };
  const auto cycles = [](std::int64_t count) { return Time{count * 1'000'000}; };
  EXPECT_EQ(drain(50, 50).latency, cycles(2 * 50)) << "the median of all: 100";
  EXPECT_EQ(drain(50, 90).latency, cycles(2 * 750));
  EXPECT_EQ(drain(300, 50).latency, cycles(2 * 500)) << "as long as the mean: one of the long ones";
  EXPECT_FALSE(drain(801, 50).possible());
  EXPECT_FALSE(
      drain_cost(block(50, 100), {&finished, {}, 0}, plain, {.length = DrainEstimate::quantile})
          .possible())
      << "no lengths are known";
}

TEST(BlockCosts, AnOracleKnowsWhatIsLeftOfABlock) {
  const BlockProfile::Durations undisturbed{microseconds(5), Time::never()};
  const auto latency = [&](const BlockStatus& status) {
    return known_drain_cost(status, {nullptr, {}, 0, &undisturbed}, plain).latency;
  };
  EXPECT_EQ(latency(block(1, 2000)), microseconds(3)) << "2000 cycles of 1 ns are past";
  EXPECT_EQ(latency(block(1, 6000)), Time::zero()) << "longer than it ran then";
  EXPECT_EQ(latency(block(1, 2000, true, 1)), Time::never()) << "it had not ended then";
  EXPECT_EQ(latency(block(1, 2000, true, 2)), Time::never()) << "it was not there then";
  EXPECT_FALSE(known_drain_cost(block(1, 2000), {nullptr, {}, 0}, plain).possible());
}

TEST(BlockProfile, BeginsAnewWithEachRoundOfATenant) {
  const BlockProfile profile({{{microseconds(1)}, {microseconds(2)}}, {}});
  EXPECT_EQ(profile.of(TenantId{0}, 0)->front(), microseconds(1));
  EXPECT_EQ(profile.of(TenantId{0}, 5)->front(), microseconds(2));
  EXPECT_EQ(profile.of(TenantId{1}, 0), nullptr) << "it launched nothing";
}

Technique chosen(BlockCost flush, BlockCost save, BlockCost drain, Time bound) {
  return cheapest(block(1, 1), flush, save, drain, bound).command.technique;
}

TEST(CheapestTechnique, IsTheOneThatLosesLeastWithinTheBound) {
  const BlockCost flush{Time::zero(), 100}, save{microseconds(2), 50}, drain{microseconds(4), 0};
  EXPECT_EQ(chosen(flush, save, drain, microseconds(5)), Technique::drain);
  EXPECT_EQ(chosen(flush, save, drain, microseconds(3)), Technique::save);
  EXPECT_EQ(chosen(flush, save, drain, microseconds(1)), Technique::flush);
}

TEST(CheapestTechnique, IsTheFastestIfNoneIsWithinTheBound) {
  const BlockCost save{microseconds(2), 50}, drain{microseconds(4), 0};
  EXPECT_EQ(chosen({}, save, drain, microseconds(1)), Technique::save);
  EXPECT_EQ(chosen({}, drain, save, microseconds(1)), Technique::drain);
}

/// What Chimera does with these blocks of a kernel whose blocks have 1000 instructions, 2 cycles
/// each, and contexts of 100 bytes.
std::vector<Technique> chimera(const std::vector<BlockStatus>& blocks, Time bound) {
  KernelHistory finished;
  for (int i = 0; i < 3; ++i) finished.add({{1000, 0}, 2000});
  const auto policy = make_preemption(policy_named(preemption_policies(), "chimera"));
  std::vector<Technique> techniques;
  for (const SmRelease::Block& one :
       policy->decide({0, 1, blocks}, {&finished, {}, 100}, plain, bound).blocks)
    techniques.push_back(one.command.technique);
  return techniques;
}

TEST(Chimera, FlushesYoungBlocksSavesMiddleOnesAndDrainsOldOnes) {
  EXPECT_THAT(chimera({block(20, 40), block(500, 1000), block(990, 1980)}, microseconds(0.5)),
              ::testing::ElementsAre(Technique::flush, Technique::save, Technique::save))
      << "the last would wait for the others: 970 instructions";
  EXPECT_THAT(chimera({block(950, 1900), block(990, 1980)}, microseconds(0.5)),
              ::testing::ElementsAre(Technique::drain, Technique::drain));
  EXPECT_THAT(chimera({block(20, 40, false), block(500, 1000, false)}, microseconds(0.05)),
              ::testing::ElementsAre(Technique::save, Technique::save))
      << "nothing is fast enough";
}

}  // namespace
}  // namespace lockstep
