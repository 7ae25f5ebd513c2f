/// The front end on its own: no unit behind it, so that a test says when what is done.
#include "models/sm/front_end/front_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/front_end/issue_cycle.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::front_end_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// add, then a dependent add, a load and its use.
constexpr const char* body = R"(
  add.u32 %r1, %r0, 1;
  add.u32 %r2, %r1, 1;
  ld.global.u32 %r3, [%rd0];
  add.u32 %r4, %r3, %r2;
  st.global.u32 [%rd1], %r4;
)";

class FrontEndTest : public testing::Test {
 protected:
  /// Enters a block whose warps issue from cycle 1 on.
  BlockPlace start(std::uint32_t threads) {
    const BlockPlace place = world.enter_block(threads);
    for_each_warp(world.blocks.block(place).warps,
                  [&](WarpSlot slot) { front_end.add(slot, SmCycle(1)); });
    return place;
  }
  /// A cycle in which chosen warps only compute, with this latency; before any comes to its exit.
  std::vector<unsigned> cycle(SmCycle now, std::int64_t latency = 4) {
    std::vector<unsigned> chosen;
    front_end.begin_cycle(now);
    std::visit(
        [&](auto& policy) {
          front_end.issue_cycle(policy, now, [&](WarpSlot slot) {
            chosen.push_back(slot.value());
            Warp& warp = world.blocks.warp(slot);
            const IssueRecord& record = warp.records[warp.paths.pc()];
            front_end.issued(slot, record, now);
            front_end.commit_at(slot, warp, record, now + latency);
            warp.paths.advance();
            front_end.evaluate(slot, warp, now);
          });
        },
        front_end.scheduler());
    return chosen;
  }

  SmWorld world{body};
  DrainedList gone;
  NoWaits no_waits;
  FrontEnd front_end{world.sm, gone, faultable, no_waits};
  FaultableAccesses faultable{world.sm, front_end};
};

TEST_F(FrontEndTest, AWarpIssuesFromTheCycleInWhichItIsAdded) {
  start(32);
  EXPECT_THAT(cycle(SmCycle(0)), IsEmpty());
  EXPECT_THAT(cycle(SmCycle(1)), ElementsAre(0));
}

TEST_F(FrontEndTest, ADependentInstructionWaitsForTheCommit) {
  start(32);
  // Three loads of parameters, and the first add needs the last of them.
  std::vector<SmCycle> issued;
  for (SmCycle now{0}; now < SmCycle(25); now += 1)
    if (!cycle(now, 6).empty()) issued.push_back(now);
  ASSERT_GE(issued.size(), 5u);
  const Warp& warp = world.blocks.warp(WarpSlot(0));
  EXPECT_TRUE(warp.paths.pc() > 4);
  // The second add comes six cycles behind the first, whose result it reads.
  EXPECT_EQ(issued[4] - issued[3], 6);
}

TEST_F(FrontEndTest, SchedulersChooseAmongTheirOwnWarps) {
  start(8 * 32);
  for (SmCycle now{1}; now < SmCycle(20); now += 1) {
    std::vector<unsigned> chosen = cycle(now);
    if (chosen.empty()) continue;  // units are busy
    for (unsigned& slot : chosen) slot %= 4;
    std::sort(chosen.begin(), chosen.end());
    EXPECT_THAT(chosen, ElementsAre(0, 1, 2, 3)) << now.value();
  }
}

TEST_F(FrontEndTest, AClosedMemoryGateHoldsMemoryInstructionsAlone) {
  start(2 * 32);
  for (unsigned i = 0; i < world.constants.parameters.memory_queue; ++i)
    front_end.memory_gate().entered();
  const std::uint32_t load = world.find_global(isa::Category::load);
  for (SmCycle now{0}; now < SmCycle(60); now += 1) cycle(now);
  EXPECT_EQ(world.blocks.warp(WarpSlot(0)).paths.pc(), load);
  EXPECT_EQ(world.blocks.warp(WarpSlot(1)).paths.pc(), load);
  front_end.memory_gate().left(SmCycle(60));
  EXPECT_EQ(cycle(SmCycle(60)).size(), 2u);
}

TEST_F(FrontEndTest, SleepsUntilItsNextEvent) {
  start(32);
  EXPECT_EQ(front_end.next_event(), SmCycle(1));
  cycle(SmCycle(1), 30);
  front_end.resume_at(WarpSlot(5), SmCycle(17));
  EXPECT_LE(front_end.next_event(), SmCycle(17));
}

TEST_F(FrontEndTest, AWarpWithoutThreadsAndRequestsIsDrained) {
  start(32);
  cycle(SmCycle(1));
  Warp& warp = world.blocks.warp(WarpSlot(0));
  warp.paths.exit(~0u);
  warp.pending = {};
  world.blocks.under_way().stores_begin(WarpSlot(0), BlockPlace(warp.block), 1);
  front_end.evaluate(WarpSlot(0), warp, SmCycle(5));
  EXPECT_THAT(gone.warps, IsEmpty());
  EXPECT_EQ(front_end.waiting(StallCause::drain), 1u);
  world.blocks.under_way().store_ends(WarpSlot(0), BlockPlace(warp.block), 0);
  front_end.request_answered(WarpSlot(0), SmCycle(9));
  EXPECT_THAT(gone.warps, ElementsAre(WarpSlot(0)));
  EXPECT_THAT(gone.cycles, ElementsAre(SmCycle(9)));
}

TEST_F(FrontEndTest, EveryCycleOfASchedulerIsChargedToOneCause) {
  start(3 * 32);
  for (SmCycle now{0}; now < SmCycle(30); now += 1) cycle(now, 7);
  front_end.account_stalls(SmCycle(30));
  world.blocks.flush_statistics(SmCycle(30));
  std::uint64_t stalls = 0;
  for (const Counter& cause : world.statistics.tenant[0].stalls) stalls += cause.value();
  std::uint64_t issued = 0;
  for (unsigned slot = 0; slot < 3; ++slot)
    issued += world.blocks.warp(WarpSlot(static_cast<std::uint16_t>(slot))).paths.pc();
  EXPECT_EQ(stalls + issued, 4u * 30);
}

TEST_F(FrontEndTest, RestoredItChoosesAsBefore) {
  start(8 * 32);
  for (SmCycle now{0}; now < SmCycle(5); now += 1) cycle(now);
  SmWorld other_world{body};
  FrontEnd other{other_world.sm, gone, faultable, no_waits};
  save_and_restore(world.blocks, other_world.blocks);
  save_and_restore(front_end, other);
  EXPECT_EQ(other.ready_warps(), front_end.ready_warps());
  EXPECT_EQ(other.known(), front_end.known());
  EXPECT_EQ(other.next_event(), front_end.next_event());
  EXPECT_EQ(other.wake(), front_end.wake());
}

}  // namespace
}  // namespace lockstep::front_end_test
