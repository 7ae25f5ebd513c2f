/// Who waits for the acknowledgements of a block's stores: `stores_drain_with`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lockstep::drained_stores_test
