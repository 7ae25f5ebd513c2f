/// Blocks that leave an SM because of a fault: who, when, how many, and for how long.
/// Source: 000, section 4.1, Figure 9, and section 5.3 (ideal switching takes a cycle each way).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/memory/round_up.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/vm/messages.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::block_switching_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace literals;

/// Block i doubles the first word of page i; memory has eight pages.
constexpr const char* doubles = R"(
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4096;
  add.u64 %rd3, %rd0, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%rd3], %r2;
)";
constexpr std::uint64_t pages = 8;

class BlockSwitching : public testing::Test {
 protected:
  void use(const std::string& body, const std::string& switching, std::uint32_t blocks_on_chip = 1,
           const std::string& declarations = "", bool tells_stays = false) {
    IdealMachine::Options options;
    options.tells_stays = tells_stays;
    options.knows_pages = false;
    options.memory_bytes = pages * page_bytes;
    options.exception_scheme = "replay-queue";
    options.block_switching = switching;
    options.parameters.blocks = blocks_on_chip;
    options.tenants = {"first", "second"};
    machine.emplace(kernel_of(body, declarations), options);
    for (std::uint32_t i = 0; i < pages; ++i) machine->put<std::uint32_t>(i * page_bytes, 100 + i);
  }
  void launch(std::uint32_t blocks, std::uint32_t threads = 32, std::uint16_t tenant = 0) {
    machine->launch("k", {blocks, 1, 1}, {threads, 1, 1},
                    {machine->address(0), machine->address(0), 0}, 0, tenant);
  }
  void refuse(std::uint32_t page, std::uint32_t position) {
    machine->pages[IdealMachine::page_of(page * page_bytes)] = {
        TranslationStatus::refused, {}, position};
  }
  void refuse_all(std::uint32_t position) {
    for (std::uint32_t page = 0; page < pages; ++page) refuse(page, position);
  }
  /// The page is there from that cycle on; when the SM hears of it.
  std::int64_t come(std::uint32_t page, std::int64_t at, std::uint16_t tenant = 0) {
    machine->run_to(at);
    return machine->page_comes(IdealMachine::page_of(page * page_bytes), tenant);
  }
  /// What became of blocks until now: "saved 3", "restored 3".
  std::vector<std::string> moves() const {
    std::vector<std::string> texts;
    for (const IdealMachine::Told& told : machine->told)
      if (told.text.starts_with("saved") || told.text.starts_with("restored"))
        texts.push_back(told.text);
    return texts;
  }
  std::int64_t when(const std::string& text) const {
    const auto told = std::find_if(machine->told.begin(), machine->told.end(),
                                   [&](const auto& each) { return each.text == text; });
    return told == machine->told.end() ? -1 : told->departure;
  }
  const SmStatistics::OfTenant& counts() { return machine->statistics().tenant[0]; }
  void expect_doubled(std::uint32_t blocks) const {
    for (std::uint32_t i = 0; i < blocks; ++i)
      EXPECT_EQ(machine->get<std::uint32_t>(i * page_bytes), 2 * (100 + i)) << "block " << i;
  }

  std::optional<IdealMachine> machine;
};

TEST_F(BlockSwitching, ABlockWithAFaultFarBehindMakesRoomAndReturnsWhenItsPageHasCome) {
  use(doubles, "{name: on-fault, threshold: 3}");
  refuse(0, 4);
  launch(2);
  machine->run_to(4000);
  EXPECT_THAT(moves(), ElementsAre("saved 0"));
  EXPECT_EQ(machine->get<std::uint32_t>(page_bytes), 2 * 101u) << "the other one has run";
  EXPECT_THAT(machine->sm().waiting_for(), HasSubstr("1 blocks wait in memory, 1 of them for"));
  come(0, 5000);
  machine->run();
  EXPECT_THAT(moves(), ElementsAre("saved 0", "restored 0"));
  expect_doubled(2);
}

TEST_F(BlockSwitching, ABlockStaysForAFaultAtTheThreshold) {
  use(doubles, "{name: on-fault, threshold: 3}");
  refuse(0, 3);
  launch(2);
  come(0, 5000);
  machine->run();
  EXPECT_THAT(moves(), IsEmpty());
  EXPECT_EQ(counts().fault_notices.value(), 1u);
  EXPECT_EQ(counts().kept_for_near_faults.value(), 1u);
  expect_doubled(2);
}

TEST_F(BlockSwitching, ABlockStaysUntilTheGpuHasHandledAFaultOfIt) {
  use(R"(
  mov.u32 %r1, %tid.x;
  xor.b32 %r1, %r1, 1;  // page 1 is asked for first
  mul.wide.u32 %rd2, %r1, 4096;
  add.u64 %rd3, %rd0, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%rd3], %r2;
)",
      "{name: on-fault, threshold: 0}");
  refuse(0, 9);
  machine->pages[IdealMachine::page_of(page_bytes)].status = TranslationStatus::handled;
  launch(2, 2);
  come(1, 5000);
  EXPECT_THAT(moves(), IsEmpty());
  EXPECT_EQ(counts().fault_notices.value(), 2u);
  machine->run_to(8000);
  EXPECT_THAT(moves(), ElementsAre("saved 0"));
  come(0, 9000);
  machine->run();
  for (const std::uint64_t page : {0, 1})
    EXPECT_EQ(machine->get<std::uint32_t>(page * page_bytes), 4 * (100 + page));
}

TEST_F(BlockSwitching, NobodyLeavesIfThereIsNobodyToTakeThePlace) {
  use(doubles, "{name: on-fault, threshold: 0}");
  refuse(0, 9);
  launch(1);
  come(0, 5000);
  machine->run();
  EXPECT_THAT(moves(), IsEmpty());
  EXPECT_EQ(counts().kept_for_want_of_others.value(), 1u);
}

TEST_F(BlockSwitching, AFaultThatFoundNobodyIsLookedAtAgainWhenABlockComes) {
  use(doubles, "{name: on-fault, threshold: 0}");
  refuse(0, 9);
  launch(1);
  machine->run_to(3000);
  EXPECT_THAT(moves(), IsEmpty());
  launch(2);  // its block 0 faults as well
  machine->run_to(8000);
  EXPECT_THAT(moves(), ElementsAre("saved 0", "saved 0"));
  EXPECT_EQ(machine->get<std::uint32_t>(page_bytes), 2 * 101u);
  come(0, 9000);
  machine->run();
}

TEST_F(BlockSwitching, NoMoreThanTheExtraBlocksStandInMemory) {
  for (const std::uint32_t extra : {1u, 2u, 4u}) {
    SCOPED_TRACE(extra);
    use(doubles, "{name: on-fault, threshold: 0, extra_blocks: " + std::to_string(extra) + "}", 2);
    refuse_all(9);
    launch(8);
    machine->run_to(20'000);
    EXPECT_EQ(moves().size(), extra) << "two more wait on chip";
    for (std::uint32_t page = 0; page < pages; ++page) come(page, 21'000 + 3000 * page);
    machine->run();
    int in_memory = 0, most = 0;
    for (const std::string& move : moves()) {
      in_memory += move.starts_with("saved") ? 1 : -1;
      most = std::max(most, in_memory);
    }
    EXPECT_LE(most, static_cast<int>(extra));
    EXPECT_EQ(in_memory, 0);
    expect_doubled(8);
  }
}

TEST_F(BlockSwitching, IdealSwitchingTakesACycleEachWay) {
  use(doubles, "{name: on-fault, threshold: 0, ideal: true}");
  refuse(0, 9);
  launch(2);
  const std::int64_t heard = come(0, 5000);
  machine->run();
  // The refusal comes 45 + 10 + 45 cycles after the question.
  const std::int64_t refused = when("translate 0") + 100;
  EXPECT_EQ(when("saved 0"), refused + 1);
  EXPECT_EQ(when("translate 1"), when("saved 0") + when("translate 0") - 1)
      << "the other block starts in that cycle, as the first one did in cycle 1";
  EXPECT_EQ(when("restored 0"), heard);
}

TEST_F(BlockSwitching, AnInstructionIsIssuedAgainACycleLaterThanIfItsBlockHadStayed) {
  std::int64_t departures[2];
  for (const bool ideal : {false, true}) {
    use(doubles, ideal ? "{name: on-fault, threshold: 0, ideal: true}" : "none");
    machine->record = true;
    refuse(0, 9);
    launch(2);
    come(0, 5000);
    machine->run();
    machine->sort_seen();
    const auto load = std::find_if(machine->seen.begin(), machine->seen.end(), [](const auto& s) {
      return s.request.operation == MemoryOperation::load && s.departure >= 5000;
    });
    ASSERT_NE(load, machine->seen.end());
    departures[ideal] = load->departure;
  }
  EXPECT_EQ(departures[true], departures[false] + 1);
}

TEST_F(BlockSwitching, AContextGoesThroughMemoryInWholeLines) {
  use(doubles, "{name: on-fault, threshold: 0}", 1, ".shared .align 8 .b8 room[1024];\n");
  machine->record = true;
  refuse(0, 9);
  launch(2);
  come(0, 9000);
  machine->run();
  std::map<std::uint64_t, std::vector<std::byte>> stored;
  std::size_t loads = 0;
  machine->sort_seen();
  for (const IdealMachine::Seen& seen : machine->seen) {
    if ((seen.request.flags & flag_context) == 0) continue;
    EXPECT_EQ(seen.request.sectors, 0xf);
    if (seen.request.operation == MemoryOperation::load) {
      ++loads;
      EXPECT_TRUE(stored.contains(seen.request.line));
    } else {
      EXPECT_LT(seen.departure, 9000);
      stored[seen.request.line] = seen.payload;
    }
  }
  EXPECT_EQ(loads, stored.size());
  EXPECT_GT(stored.size(), 1024 / line_bytes) << "shared memory and registers";
  EXPECT_EQ(round_up(counts().context_bytes_saved.value(), line_bytes), stored.size() * line_bytes);
  EXPECT_EQ(counts().context_bytes_restored.value(), counts().context_bytes_saved.value());
}

TEST_F(BlockSwitching, DirtyLinesOfLocalMemoryAreWrittenBackWhenTheBlockLeaves) {
  use("mov.u64 %rd7, own;\nmov.u32 %r1, 7;\nst.local.u32 [%rd7], %r1;\n" + std::string(doubles),
      "{name: on-fault, threshold: 0}", 1, ".local .align 8 .b8 own[64];\n");
  refuse(0, 9);
  launch(2);
  machine->run_to(4000);
  EXPECT_THAT(moves(), ElementsAre("saved 0"));
  EXPECT_EQ(counts().local_writebacks.value(), 1u) << "a word of each lane: one line";
  come(0, 5000);
  machine->run();
  expect_doubled(2);
}

/// Blocks 0 to 3 are in memory when the page of block 0 comes, and goes before it is used; that of
/// block 1 has come meanwhile, so that another one could have the place.
TEST_F(BlockSwitching, ABlockThatReturnsToAPageThatHasGoneStaysUntilItComesOnceMore) {
  use(doubles, "{name: on-fault, threshold: 0}");
  refuse_all(9);
  launch(8);
  machine->run_to(30'000);
  EXPECT_THAT(moves(), ElementsAre("saved 0", "saved 1", "saved 2", "saved 3"));
  come(0, 30'000);
  refuse(0, 9);
  come(1, 30'010);
  machine->run_to(60'000);
  EXPECT_EQ(std::count_if(machine->told.begin(), machine->told.end(),
                          [](const auto& told) { return told.text == "translate 0"; }),
            2);
  EXPECT_THAT(moves(),
              ElementsAre("saved 0", "saved 1", "saved 2", "saved 3", "restored 0", "saved 4"));
  for (std::uint32_t page = 0; page < pages; ++page) come(page, 61'000 + 3000 * page);
  machine->run();
  expect_doubled(8);
}

TEST_F(BlockSwitching, TheDispatcherHearsWhenABlockThatHasReturnedGetsOn) {
  use(doubles, "{name: on-fault, threshold: 0}", 1, "", true);
  refuse(0, 9);
  launch(2);
  come(0, 5000);
  refuse(0, 9);
  machine->run_to(8000);
  EXPECT_GT(when("restored 0"), 5000);
  EXPECT_EQ(when("settled 0"), -1) << "the page has gone";
  come(0, 9000);
  machine->run();
  EXPECT_GT(when("settled 0"), 9000);
  expect_doubled(2);
}

/// Block 0 sets the flag in page 7 behind its fault, block 1 waits for it.
constexpr const char* spins = R"(
  mov.u32 %r1, %ctaid.x;
  add.u64 %rd4, %rd0, 28672;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra again;
  ld.global.u32 %r2, [%rd0];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%rd0], %r2;
  mov.u32 %r3, 1;
  st.release.gpu.global.u32 [%rd4], %r3;
  ret;
again:
  ld.acquire.gpu.global.u32 %r2, [%rd4];
  setp.ne.u32 %p2, %r2, 1;
  @%p2 bra again;
  st.global.u32 [%rd4+4], %r2;
)";

TEST_F(BlockSwitching, ABlockThatSpinsOnOneInMemoryIsDisplacedAfterTheLongestWait) {
  use(spins, "{name: on-fault, threshold: 0, max_wait: 5us}");
  refuse(0, 9);
  launch(2);
  const std::int64_t heard = come(0, 9000);
  machine->run();
  EXPECT_THAT(moves(), ElementsAre("saved 0", "restored 0", "saved 1", "restored 1"))
      << "who returns is told before who has left";
  EXPECT_GE(machine->clock().duration(Cycles{when("restored 0") - heard}), 5_us);
  EXPECT_EQ(machine->get<std::uint32_t>(0), 200u);
  EXPECT_EQ(machine->get<std::uint32_t>(7 * page_bytes + 4), 1u);
}

TEST_F(BlockSwitching, BlocksInMemoryOfATenantThatEndsAreGoneAndTheOthersGoOn) {
  use(doubles, "{name: on-fault, threshold: 0}");
  refuse(0, 9);
  launch(2, 32, 0);
  machine->run_to(3000);
  ASSERT_THAT(moves(), ElementsAre("saved 0"));
  launch(2, 32, 1);
  machine->run_to(6000);
  machine->post(0, 6100, MessageKind::abort_tenant, TenantNotice{0, {}});
  machine->run_to(6200);
  come(0, 7000, 1);
  machine->run();
  EXPECT_EQ(machine->get<std::uint32_t>(0), 200u) << "the second tenant's, not the first's again";
}

TEST_F(BlockSwitching, APageThatGoesAgainBeforeItsBlockReturnsIsAskedForAnew) {
  use(doubles, "{name: on-fault, threshold: 0, extra_blocks: 1}");
  refuse(0, 9);
  refuse(1, 9);
  launch(2);
  machine->run_to(3000);
  EXPECT_THAT(moves(), ElementsAre("saved 0")) << "block 1 waits on chip: nobody is behind it";
  come(0, 4000);
  refuse(0, 9);  // gone when the block asks
  machine->run_to(9000);
  come(0, 10'000);
  come(1, 12'000);
  machine->run();
  expect_doubled(2);
}

TEST_F(BlockSwitching, SavedAndRestoredAtAnyCycleItEndsAsUninterrupted) {
  const auto run = [&](std::int64_t interrupted) {
    use(doubles, "{name: on-fault, threshold: 0, extra_blocks: 2, max_wait: 1us}", 2);
    refuse_all(9);
    launch(8);
    const auto interrupt = [&] {
      const std::string before = machine->state();
      machine->save_and_restore();
      EXPECT_EQ(machine->state(), before);
    };
    for (std::uint32_t page = 0; page < pages; ++page) {
      const std::int64_t next = 2000 + 1000 * page;
      if (interrupted > machine->cycle() && interrupted < next) {
        machine->run_to(interrupted);
        interrupt();
      }
      come(page, next);
    }
    const std::int64_t end = machine->run();
    expect_doubled(8);
    return std::pair(end, moves());
  };
  const auto whole = run(0);
  EXPECT_GT(whole.second.size(), 4u);
  for (std::int64_t cycle = 150; cycle < 9000; cycle += 61) ASSERT_EQ(run(cycle), whole) << cycle;
}

}  // namespace
}  // namespace lockstep::block_switching_test
