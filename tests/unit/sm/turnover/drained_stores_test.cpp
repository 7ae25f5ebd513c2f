/// Who waits for the acknowledgements of a block's stores: `stores_drain_with`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::drained_stores_test {
namespace {

constexpr std::int64_t acknowledged_after = 5000;

/// Each block is one thread, which stores its number and one more: [out + 4 * block].
const std::string numbers = R"(
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd3], %r2;
)";

struct DrainRun {
  explicit DrainRun(StoresDrainWith drain, const std::string& body = numbers)
      : machine(kernel_of(body), options(drain)) {
    machine.record = true;
    machine.launch("k", {3, 1, 1}, {1, 1, 1},
                   {IdealMachine::address(0), IdealMachine::address(0), 0});
  }
  static IdealMachine::Options options(StoresDrainWith drain) {
    IdealMachine::Options options;
    options.parameters.blocks = 1;
    options.parameters.stores_drain_with = drain;
    options.memory_latency = Cycles{acknowledged_after};
    options.ends_grids = false;
    return options;
  }
  /// Cycles between the first store and the last one.
  std::int64_t between_stores() {
    machine.sort_seen();
    return machine.seen.back().departure - machine.seen.front().departure;
  }

  IdealMachine machine;
};

TEST(DrainedStores, WithTheBlockTheNextOneWaitsForThem) {
  DrainRun run(StoresDrainWith::block);
  run.machine.run();
  ASSERT_EQ(run.machine.seen.size(), 3u);
  EXPECT_GT(run.between_stores(), 2 * acknowledged_after);
}

TEST(DrainedStores, WithTheGridOthersTakeTheBlocksPlaceMeanwhile) {
  DrainRun run(StoresDrainWith::grid);
  run.machine.run();
  ASSERT_EQ(run.machine.seen.size(), 3u);
  EXPECT_LT(run.between_stores(), 500);
  for (std::uint32_t block = 0; block < 3; ++block)
    EXPECT_EQ(run.machine.get<std::uint32_t>(4 * block), block + 1);
}

/// When block 1 waits, the second store of block 0, whose place it has, is acknowledged first.
TEST(DrainedStores, AFenceWaitsForStoresOfItsOwnBlock) {
  DrainRun run(StoresDrainWith::grid, numbers + "membar.gl;\nst.global.u32 [%rd3], %r2;\n");
  run.machine.run();
  run.machine.sort_seen();
  ASSERT_EQ(run.machine.seen.size(), 6u);
  for (const std::size_t first : {0, 2, 4}) {
    EXPECT_GE(run.machine.seen[first + 1].departure - run.machine.seen[first].departure,
              acknowledged_after);
  }
}

TEST(DrainedStores, TheDispatcherHearsOnceThatAllOfAGridAreAcknowledged) {
  DrainRun run(StoresDrainWith::grid);
  const std::int64_t done = run.machine.run();
  EXPECT_LT(done, acknowledged_after);
  EXPECT_TRUE(run.machine.told.empty());
  run.machine.save_and_restore();
  run.machine.run_to(done + 2 * acknowledged_after);
  ASSERT_EQ(run.machine.told.size(), 1u);
  EXPECT_EQ(run.machine.told.front().text, "stores done");
  EXPECT_GT(run.machine.told.front().departure, acknowledged_after);
}

/// Warp 0 ends behind its store, warp 1 goes round for a while before it.
TEST(DrainedStores, ABlockLeavesForMemoryWhenThoseOfItsWarpsThatHaveEndedAreAcknowledged) {
  const std::string body = R"(
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra store;
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 500;
  @%p2 bra again;
store:
  st.global.u32 [%rd3], %r1;
)";
  IdealMachine::Options options = DrainRun::options(StoresDrainWith::grid);
  options.exception_scheme = "replay-queue";
  options.block_switching = "on-fault";  // for the room; nothing faults
  options.traffic = ContextTraffic::share;
  IdealMachine machine(kernel_of(body), options);
  machine.launch("k", {1, 1, 1}, {64, 1, 1},
                 {IdealMachine::address(0), IdealMachine::address(0), 0});
  machine.run_to(1000);
  machine.post(0, 1000, MessageKind::stop_grid, GridStop{0, Technique::save, {}});
  machine.run_to(3 * acknowledged_after);
  const auto told = [&](const std::string& text) {
    return std::find_if(machine.told.begin(), machine.told.end(),
                        [&](const auto& each) { return each.text == text; });
  };
  ASSERT_NE(told("saved 0"), machine.told.end());
  EXPECT_GT(told("saved 0")->departure, acknowledged_after);
  machine.post(0, 3 * acknowledged_after, MessageKind::resume_grid, GridReference{0, 0});
  machine.run_to(machine.run() + 2 * acknowledged_after);
  EXPECT_EQ(std::count_if(machine.told.begin(), machine.told.end(),
                          [](const auto& each) { return each.text == "stores done"; }),
            1)
      << "of warp 1";
  for (std::uint32_t thread = 0; thread < 64; ++thread)
    EXPECT_EQ(machine.get<std::uint32_t>(4 * thread), thread);
}

}  // namespace
}  // namespace lockstep::drained_stores_test
