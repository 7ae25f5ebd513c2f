/// Grids that begin beside the one before them in their stream.
/// Source: PTX ISA, "griddepcontrol"; CUDA C++ Programming Guide, "Programmatic Dependent Launch".
#include "models/dispatch/dispatcher.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::dependents_test {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two blocks of grid 1 run in two SMs, and grid 2 depends on it.
void begin(DispatcherBench& bench) {
  bench.launch(0, {.grid = 1, .blocks = 2});
  bench.launch(10, {.grid = 2, .blocks = 2, .primary = 2});
  bench.run_until(300);
  bench.sent();
}
void let_go(DispatcherBench& bench, double at_ns, std::uint32_t sm, std::uint64_t block) {
  bench.block(at_ns, MessageKind::block_lets_go, 1, sm, block);
}

TEST(Dependents, BeginWhenEveryBlockOfTheGridBeforeLetsThem) {
  DispatcherBench bench;
  begin(bench);
  let_go(bench, 300, 0, 0);
  bench.run_until(400);
  EXPECT_THAT(bench.sent(), IsEmpty()) << "one block has not";
  bench.save_and_restore();
  let_go(bench, 405, 1, 1);
  bench.run_until(500);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"405 sm2 start 2 beside 1", "405 sm2 block 2.0",
                                              "407 sm3 start 2 beside 1", "407 sm3 block 2.1"}));
}

TEST(Dependents, BeginNotBeforeTheirLaunchLatency) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 1});
  bench.run_until(200);
  let_go(bench, 200, 0, 0);
  bench.launch(250, {.grid = 2, .primary = 2});
  bench.run_until(1000);
  EXPECT_EQ(bench.sent().back(), "350 sm1 block 2.0");
}

TEST(Dependents, ABlockThatEndsLetsThemBeginAndCountsOnce) {
  DispatcherBench bench;
  begin(bench);
  let_go(bench, 300, 0, 0);
  bench.block_that_let_go_done(310, 1, 0, 0);
  bench.run_until(350);
  EXPECT_THAT(bench.sent(), IsEmpty());
  bench.block_done(360, 1, 1, 1);
  bench.run_until(500);
  EXPECT_THAT(bench.sent(), Contains("360 sm2 block 2.0"));
}

TEST(Dependents, HearThatTheGridBeforeHasEndedWithItsStores) {
  DispatcherBench bench;
  begin(bench);
  let_go(bench, 300, 0, 0);
  let_go(bench, 300, 1, 1);
  bench.run_until(350);
  bench.sent();
  bench.block_that_let_go_done(400, 1, 0, 0);
  bench.block_leaves_stores(410, 1, 1, 1);
  bench.run_until(450);
  EXPECT_THAT(bench.sent(), IsEmpty());
  bench.save_and_restore();
  bench.stores_done(500, 1, 1);
  bench.run_until(600);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"500 host done 1", "500 sm0 end 1", "500 sm1 end 1",
                                "500 sm2 no more beside 2", "500 sm3 no more beside 2"}));
}

TEST(Dependents, EndAfterTheGridBefore) {
  DispatcherBench bench;
  begin(bench);
  let_go(bench, 300, 0, 0);
  let_go(bench, 300, 1, 1);
  bench.run_until(350);
  bench.block_done(400, 2, 2, 0);
  bench.block_done(400, 2, 3, 1);
  bench.block_that_let_go_done(400, 1, 0, 0);
  bench.run_until(450);
  bench.sent();
  bench.block_that_let_go_done(500, 1, 1, 1);
  bench.run_until(600);
  const std::vector<std::string> sent = bench.sent();
  std::vector<std::string> done;
  for (const std::string& one : sent)
    if (one.find("done") != one.npos) done.push_back(one);
  EXPECT_THAT(done, ElementsAreArray({"500 host done 1", "500 host done 2"}));
  EXPECT_TRUE(bench.dispatcher().finished());
}

TEST(Dependents, ThatComeLateDependOnNothing) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 1});
  bench.run_until(150);
  bench.block_done(200, 1, 0, 0);
  bench.run_until(250);
  bench.sent();
  bench.launch(300, {.grid = 2, .primary = 2});
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"400 sm1 start 2", "400 sm1 block 2.0"}));
}

TEST(Dependents, AreSaidToWaitInReports) {
  DispatcherBench bench;
  begin(bench);
  EXPECT_THAT(bench.dispatcher().waiting_for(),
              HasSubstr("grid 2 begins when grid 1 has ended, or all its blocks have executed "
                        "griddepcontrol.launch_dependents"));
}

TEST(Dependents, EndWithTheirTenant) {
  for (const bool have_begun : {false, true}) {
    DispatcherBench bench;
    begin(bench);
    if (have_begun) {
      let_go(bench, 300, 0, 0);
      let_go(bench, 300, 1, 1);
    }
    bench.run_until(350);
    bench.abort_tenant(360, 0);
    bench.block_done(400, 1, 0, 0);
    if (have_begun) bench.block_done(400, 2, 2, 0);
    bench.block_done(410, 1, 1, 1);
    if (have_begun) bench.block_done(420, 2, 3, 1);
    bench.run_until(500);
    EXPECT_TRUE(bench.dispatcher().finished()) << bench.dispatcher().waiting_for();
  }
}

/// Where blocks leave SMs, those of the dependent grid could keep others from coming back.
TEST(Dependents, BeginBehindTheGridBeforeWhereBlocksLeaveSms) {
  for (const bool by_preemption : {false, true}) {
    DispatcherBench bench(
        {.preemption = by_preemption ? "switch" : "none", .switches_blocks = !by_preemption});
    begin(bench);
    let_go(bench, 300, 0, 0);
    let_go(bench, 300, 1, 1);
    bench.run_until(400);
    EXPECT_EQ(bench.blocks(), "");
    bench.block_that_let_go_done(500, 1, 0, 0);
    bench.block_that_let_go_done(500, 1, 1, 1);
    bench.run_until(600);
    const std::vector<std::string> sent = bench.sent();
    EXPECT_THAT(sent, Contains("500 sm2 start 2"));
    EXPECT_THAT(sent, Contains("500 sm2 block 2.0"));
  }
}

/// Grid 1 runs with no block left to send; others may begin, some of them beside it.
std::optional<std::size_t> next_of(const std::vector<GridView>& others) {
  std::vector<GridView> grids{{GridId{1}, TenantId{0}, 0, true, 0, 3, 1}};
  grids.insert(grids.end(), others.begin(), others.end());
  return make_sharing(policy_named(sharing_policies(), "exclusive"), {4, {0, 0}})
      ->choose(grids, SmId{0});
}

TEST(ExclusiveSharing, OnlyADependentGridOverlapsAndOnlyIfItIsNext) {
  const GridView dependent{GridId{2}, TenantId{0}, 0, true, 4, 0, 1, 2};
  const GridView other{GridId{3}, TenantId{1}, 0, true, 4, 0, 1};
  const GridView urgent{GridId{3}, TenantId{1}, 1, true, 4, 0, 1};
  GridView held = dependent;
  held.ready = false;
  EXPECT_EQ(next_of({dependent}), 1U);
  EXPECT_EQ(next_of({other}), std::nullopt);
  EXPECT_EQ(next_of({dependent, other}), 1U);
  EXPECT_EQ(next_of({dependent, urgent}), std::nullopt) << "it comes when all that runs has ended";
  EXPECT_EQ(next_of({held}), std::nullopt);
}

}  // namespace
}  // namespace lockstep::dependents_test
