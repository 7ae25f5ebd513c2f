/// Tenants have the GPU in turn.
/// Source: 003, section 1; preemption.md, errata of section 2.1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::time_slices_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two SMs with room for two blocks each; slices of 2 us, which begin when their tenant has the
/// SMs.
class TimeSlicesTest : public ::testing::Test {
 protected:
  explicit TimeSlicesTest(const std::string& preemption = "switch") {
    BenchOptions options;
    options.sms = 2;
    options.sharing = "{name: time-sliced, slice: 2us}";
    options.preemption = preemption;
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 4, .priority = 1});
    bench->launch(0, {.grid = 2, .blocks = 4, .tenant = 1});
    bench->run_until(2000);
  }
  /// SM says that the grid's blocks have left it.
  void saved(double at, std::uint32_t grid) {
    for (const std::uint32_t sm : {0, 1}) {
      for (const std::uint64_t block : {sm, sm + 2})
        bench->block(at, MessageKind::block_saved, grid, sm, block);
      bench->grid_stopped(at, grid, sm);
    }
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(TimeSlicesTest, TheNextTenantTakesTheSmsWhenASliceIsOver) {
  EXPECT_EQ(bench->blocks(), "sm0:1.0 sm1:1.1 sm0:1.2 sm1:1.3");
  bench->run_until(2200);
  EXPECT_THAT(bench->sent(), ElementsAre("2100 sm0 save 1", "2100 sm1 save 1"))
      << "whatever the priorities are";
  saved(2300, 1);
  bench->run_until(2400);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
  bench->run_until(4200);
  EXPECT_THAT(bench->sent(), IsEmpty()) << "it has had the SMs since 2300";
  bench->run_until(4400);
  EXPECT_THAT(bench->sent(), ElementsAre("4300 sm0 save 2", "4300 sm1 save 2"));
  saved(4500, 2);
  bench->run_until(4600);
  EXPECT_THAT(bench->sent(), ElementsAre("4500 sm0 resume 1", "4502 sm1 resume 1"));
}

TEST_F(TimeSlicesTest, ATenantThatHasNothingToRunGivesItsSliceAway) {
  bench->sent();
  for (std::uint64_t block = 0; block < 4; ++block)
    bench->block_done(2020, 1, static_cast<std::uint32_t>(block % 2), block);
  bench->run_until(2050);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
  bench->launch(2060, {.grid = 3, .blocks = 4, .priority = 1});
  bench->run_until(4000);
  EXPECT_THAT(bench->sent(), IsEmpty()) << "the slice that began at 2020 is not over";
  bench->run_until(4100);
  EXPECT_THAT(bench->sent(), ElementsAre("4020 sm0 save 2", "4020 sm1 save 2"));
}

TEST_F(TimeSlicesTest, ASliceDoesNotBeginBeforeBlocksThatWereSavedHaveReturnedAndGotOn) {
  bench->run_until(2200);
  saved(2300, 1);
  bench->run_until(4400);
  saved(4500, 2);
  bench->run_until(7000);
  EXPECT_THAT(bench->sent(), Contains("4502 sm1 resume 1"));
  for (std::uint64_t block = 0; block < 4; ++block)
    bench->block(7000, MessageKind::block_restored, 1, static_cast<std::uint32_t>(block % 2),
                 block);
  bench->run_until(9200);
  EXPECT_THAT(bench->sent(), IsEmpty()) << "their contexts are on their way";
  for (const std::uint64_t block : {0, 1, 3})
    bench->block(9200, MessageKind::block_settled, 1, static_cast<std::uint32_t>(block % 2), block);
  bench->run_until(9300);
  bench->save_and_restore();
  bench->block_done(9300, 1, 0, 2);
  bench->run_until(11'200);
  EXPECT_THAT(bench->sent(), IsEmpty()) << "however long they took";
  bench->run_until(11'400);
  EXPECT_THAT(bench->sent(), ElementsAre("11300 sm0 save 1", "11300 sm1 save 1"));
}

TEST_F(TimeSlicesTest, ASliceDoesNotBeginBeforeItsTenantHasTheSms) {
  bench->run_until(4200);
  bench->sent();
  saved(4300, 1);
  bench->run_until(6000);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
  bench->run_until(6400);
  EXPECT_THAT(bench->sent(), ElementsAre("6300 sm0 save 2", "6300 sm1 save 2"));
}

TEST_F(TimeSlicesTest, OneThatIsAloneKeepsAllSms) {
  for (std::uint64_t block = 0; block < 4; ++block)
    bench->block_done(2020, 1, static_cast<std::uint32_t>(block % 2), block);
  bench->run_until(2050);
  bench->sent();
  bench->run_until(9000);
  EXPECT_THAT(bench->sent(), IsEmpty());
}

TEST_F(TimeSlicesTest, GoOnAfterSavingAndRestoring) {
  bench->sent();
  bench->save_and_restore();
  bench->run_until(2200);
  EXPECT_THAT(bench->sent(), ElementsAre("2100 sm0 save 1", "2100 sm1 save 1"));
}

}  // namespace
}  // namespace lockstep::time_slices_test
