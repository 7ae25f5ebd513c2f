/// SMs that save their blocks and take them back without a more urgent grid.
/// Source: 002, section V; preemption.md, section 9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::signals_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two SMs with two blocks each, and a signal every 1000 cycles of 1 ns.
class SignalsTest : public ::testing::Test {
 protected:
  SignalsTest() {
    BenchOptions options;
    options.sms = 2;
    options.preemption = "{name: switch, signal: 1000}";
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 4});
    bench->run_until(900);
    bench->sent();
  }
  void save(double at, std::uint32_t sm) {
    for (const std::uint64_t block : {sm, sm + 2})
      bench->block(at, MessageKind::block_saved, 1, sm, block);
    bench->grid_stopped(at, 1, sm);
  }
  void restore(double at, std::uint32_t sm) {
    for (const std::uint64_t block : {sm, sm + 2})
      bench->block(at, MessageKind::block_restored, 1, sm, block);
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(SignalsTest, OneSmAfterTheOtherMakesRoomAndTakesItsBlocksBackAtOnce) {
  bench->run_until(1200);
  EXPECT_THAT(bench->sent(), ElementsAre("1000 sm0 save 1"));
  save(1200, 0);
  bench->run_until(1900);
  EXPECT_THAT(bench->sent(), ElementsAre("1200 sm0 resume 1"));
  restore(1900, 0);
  bench->run_until(2500);
  EXPECT_THAT(bench->sent(), ElementsAre("2000 sm1 save 1"));
  save(2500, 1);
  restore(2600, 1);
  bench->run_until(3500);
  EXPECT_THAT(bench->sent(), ElementsAre("2500 sm1 resume 1", "3000 sm0 save 1"));
}

TEST_F(SignalsTest, AnSmThatIsStillSavingOrRestoringIsPassedOver) {
  bench->run_until(3500);
  EXPECT_THAT(bench->sent(), ElementsAre("1000 sm0 save 1", "2000 sm1 save 1"));
  save(3500, 0);
  bench->run_until(4500);
  EXPECT_THAT(bench->sent(), ElementsAre("3500 sm0 resume 1"));
  restore(4500, 0);
  bench->run_until(5500);
  EXPECT_THAT(bench->sent(), ElementsAre("5000 sm0 save 1"));
}

TEST_F(SignalsTest, AnSmNoneOfWhoseBlocksEndsIsLeftAloneForTwiceAsLongEachTime) {
  std::vector<std::string> of_sm_0;
  for (double at = 1000; at < 40'000; at += 1000) {
    bench->run_until(at + 100);
    for (const std::string& sent : bench->sent()) {
      if (!sent.ends_with("save 1")) continue;
      const std::uint32_t sm = sent.find("sm1") != std::string::npos ? 1 : 0;
      if (sm == 0) of_sm_0.push_back(sent);
      save(at + 100, sm);
      restore(at + 200, sm);
    }
  }
  EXPECT_THAT(of_sm_0, ElementsAre("1000 sm0 save 1", "3000 sm0 save 1", "5000 sm0 save 1",
                                   "7000 sm0 save 1", "11000 sm0 save 1", "19000 sm0 save 1",
                                   "35000 sm0 save 1"));
}

TEST_F(SignalsTest, ThereAreNoneWhileNothingRuns) {
  for (std::uint64_t block = 0; block < 4; ++block)
    bench->block_done(950, 1, static_cast<std::uint32_t>(block % 2), block);
  bench->run_until(960);
  bench->sent();
  EXPECT_EQ(bench->dispatcher().next_activity(), Time::never());
  bench->launch(5400, {.grid = 2, .blocks = 4});
  bench->run_until(5900);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
  bench->run_until(6100);
  EXPECT_THAT(bench->sent(), ElementsAre("6000 sm0 save 2"));
}

TEST_F(SignalsTest, ItsBlocksHaveRows) {
  bench->run_until(1100);
  save(1200, 0);
  bench->run_until(1300);
  ASSERT_EQ(bench->dispatcher().preemptions().size(), 2u);
  for (const PreemptionRecord& record : bench->dispatcher().preemptions()) {
    EXPECT_EQ(record.urgent, record.block.grid);
    EXPECT_EQ(record.asked, Time{1'000'000'000});
    EXPECT_EQ(record.released, Time{1'200'000'000});
  }
}

TEST_F(SignalsTest, GoOnAfterSavingAndRestoring) {
  bench->run_until(1100);
  bench->save_and_restore();
  save(1200, 0);
  restore(1300, 0);
  bench->run_until(2100);
  EXPECT_THAT(bench->sent(),
              ElementsAre("1000 sm0 save 1", "1200 sm0 resume 1", "2000 sm1 save 1"));
}

}  // namespace
}  // namespace lockstep::signals_test
