/// The load-store unit on its own L1 and translation: a test issues, and answers for the GMMU and
/// for memory.
#include "models/sm/load_store/load_store_unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "models/sm/context/context_engine.hpp"
#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/load_store/answers.hpp"
#include "models/sm/translation/shootdowns.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::load_store_unit_test {
namespace {

constexpr const char* body = R"(
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd0], %r1;
)";
constexpr std::uint64_t base = isa::first_global_address;

/// There are no instruction caches.
struct NoFetch final : FetchAnswers {
  void answered(const MemoryResponse&, SmCycle, SmCycle) override { FAIL(); }
};

class LoadStoreUnitTest : public testing::Test {
 protected:
  explicit LoadStoreUnitTest(void (*change)(SmSetup&) = nullptr, const char* kernel = body)
      : world(kernel, change) {
    place = world.enter_block(64);
  }

  /// All lanes of warp 0 access `stride` bytes apart; returns the flight.
  std::uint16_t issue(std::uint32_t pc, std::uint64_t stride, std::int64_t now) {
    LaneAddresses address;
    for (unsigned lane = 0; lane < 32; ++lane) address[lane] = base + lane * stride;
    return unit.issue_lines(WarpSlot(0), world.instruction(pc), world.record(pc), ~0u, address,
                            false, Flights::none, FaultableAccesses::none, SmCycle(now));
  }
  /// The GMMU knows all pages that are asked for.
  void answer_pages(std::int64_t now) {
    for (const MessageHeader* message : world.sent(SmWorld::gmmu)) {
      if (message->kind != kind_of(MessageKind::translate)) continue;
      TranslationAnswer answer;
      answer.page = message->body<TranslateRequest>().page;
      answer.entry = PageTableEntry::of((answer.page - base / page_bytes) * page_bytes,
                                        PageTableEntry::present | PageTableEntry::writable);
      translation.on_answer(answer, SmCycle(now));
    }
    unit.retry(SmCycle(now));
  }
  /// Cycles up to `end`.
  void run(std::int64_t from, std::int64_t end) {
    for (SmCycle now{from}; now < SmCycle(end); now += 1)
      if (unit.wake() <= now) unit.look_up_lines(now);
  }
  /// Memory answers all requests that have been sent, the loads with zeros.
  void answer_requests(std::int64_t now) {
    std::vector<MemoryRequest> requests;
    for (std::size_t partition = 0; partition < 4; ++partition)
      for (const MessageHeader* message : world.sent(partition))
        requests.push_back(message->body<MemoryRequest>());
    world.forget_sent();
    for (const MemoryRequest& request : requests) {
      const std::vector<std::byte> payload(
          request.operation == MemoryOperation::load ? request.sector_count() * sector_bytes : 0);
      const IncomingMessage message(world.constants.time_of(SmCycle(now)),
                                    kind_of(MessageKind::memory_response), answer_to(request),
                                    payload);
      answers.receive(*message.get(), SmCycle(now));
    }
  }
  std::uint32_t load() const { return world.find_global(isa::Category::load); }
  std::uint32_t store() const { return world.find_global(isa::Category::store); }

  SmWorld world;
  BlockPlace place;
  DrainedList gone;
  NoWaits no_waits;
  FrontEnd front_end{world.sm, gone, faultable, no_waits};
  FaultableAccesses faultable{world.sm, front_end};
  L1 l1{world.sm};
  OutstandingStores stores;
  Flights flights{world.sm, front_end, l1, faultable};
  LineAccess lines{world.sm, l1, stores, flights};
  ParkedLog log;
  Translation translation{world.sm, log};
  LoadStoreUnit unit{world.sm, front_end, faultable, translation, lines, flights};
  Shootdowns shootdowns{world.sm, l1, stores, translation};
  ContextEngine contexts{world.sm};
  NoFetch code;
  Answers answers{world.sm, front_end, l1, stores, shootdowns, flights, contexts, code, code};
};

TEST_F(LoadStoreUnitTest, LooksUpOneLineACycle) {
  issue(load(), 4, 10);
  answer_pages(20);
  run(20, 40);
  answer_requests(50);
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 0u);
  // The page is known now: four lines take four cycles.
  issue(load(), 16, 100);
  EXPECT_EQ(world.statistics.tenant[0].l1_accesses.value(), 2u);
  run(101, 103);
  EXPECT_EQ(world.statistics.tenant[0].l1_accesses.value(), 4u);
  run(103, 200);
  EXPECT_EQ(world.statistics.tenant[0].l1_accesses.value(), 5u);
  EXPECT_EQ(unit.wake(), no_cycle);
}

struct WholeLineL1Test : LoadStoreUnitTest {
  WholeLineL1Test()
      : LoadStoreUnitTest([](SmSetup& setup) { setup.parameters.l1.fetch = L1Fetch::line; }) {}
  std::vector<unsigned> asked() {
    std::vector<unsigned> sectors;
    for (std::size_t partition = 0; partition < 4; ++partition)
      for (const MessageHeader* message : world.sent(partition))
        sectors.push_back(message->body<MemoryRequest>().sectors);
    return sectors;
  }
};

TEST_F(WholeLineL1Test, AMissAsksForTheRestOfItsLineAsWell) {
  issue(load(), 0, 10);  // all lanes want one word
  answer_pages(20);
  run(20, 30);
  EXPECT_EQ(asked(), std::vector<unsigned>{0xf});
  issue(load(), 4, 30);  // the whole line, which is on its way
  run(30, 40);
  EXPECT_EQ(asked().size(), 1u);
  answer_requests(50);
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 0u);
  issue(load(), 4, 100);
  run(100, 110);
  EXPECT_EQ(asked(), std::vector<unsigned>{}) << "it is there";
}

struct BankedL1Test : LoadStoreUnitTest {
  BankedL1Test()
      : LoadStoreUnitTest([](SmSetup& setup) {
          setup.parameters.l1.lines_per_cycle = 4;
          setup.parameters.l1.banked = true;
        }) {}
  std::uint64_t looked_up() const { return world.statistics.tenant[0].l1_accesses.value(); }
};

TEST_F(BankedL1Test, ComparesFourTagsACycleAndThenPaysForConflicts) {
  issue(load(), 4, 10);
  answer_pages(20);
  run(20, 40);
  answer_requests(50);
  const std::uint64_t before = looked_up();
  issue(load(), 16, 100);  // four lines, four words of every fourth bank
  EXPECT_EQ(looked_up(), before + 4);
  issue(load(), 4, 101);
  run(101, 103);
  EXPECT_EQ(looked_up(), before + 4);
  run(103, 104);  // while the fourth word is read
  EXPECT_EQ(looked_up(), before + 5);
}

TEST_F(BankedL1Test, LooksUpLinesWithoutConflictsFourACycle) {
  issue(load(), 4, 10);
  answer_pages(20);
  run(20, 40);
  answer_requests(50);
  const std::uint64_t before = looked_up();
  issue(load(), 4 * 17, 100);  // 17 lines, each bank once
  issue(load(), 4, 101);
  EXPECT_EQ(looked_up(), before + 4);
  run(101, 104);
  EXPECT_EQ(looked_up(), before + 15) << "lanes 23 and 24 compare the tag of their line twice";
  run(104, 105);
  EXPECT_EQ(looked_up(), before + 18);
}

TEST_F(BankedL1Test, EightLanesCompareTheTagOfALineOnce) {
  issue(load(), 4, 10);
  answer_pages(20);
  run(20, 40);
  answer_requests(50);
  const std::uint64_t before = looked_up();
  // Three lines and no conflicts, and two groups of eight lanes in each: six tags.
  issue(load(), 12, 100);
  issue(load(), 12, 101);
  EXPECT_EQ(looked_up(), before + 2);
  run(101, 102);
  EXPECT_EQ(looked_up(), before + 4);
  run(102, 103);
  EXPECT_EQ(looked_up(), before + 6) << "two instructions in three cycles";
}

struct TagBanksTest : LoadStoreUnitTest {
  TagBanksTest()
      : LoadStoreUnitTest([](SmSetup& setup) {
          setup.parameters.l1.lines_per_cycle = 4;
          setup.parameters.l1.banked = true;
          setup.parameters.l1.tag_banks = true;
        }) {
    issue(load(), 4, 10);
    answer_pages(20);
    run(20, 40);
    answer_requests(50);
    before = world.statistics.tenant[0].l1_accesses.value();
  }
  std::uint64_t looked_up() const {
    return world.statistics.tenant[0].l1_accesses.value() - before;
  }
  std::uint64_t before = 0;
};

TEST_F(TagBanksTest, ComparesATagOfEachBankInACycle) {
  issue(load(), 4 * 3, 100);  // three lines that follow each other, and no conflict of data
  EXPECT_EQ(looked_up(), 3u);
  issue(load(), 4 * 7, 101);  // seven lines: two cycles
  EXPECT_EQ(looked_up(), 7u);
  run(102, 103);
  EXPECT_EQ(looked_up(), 10u);
  issue(load(), 4, 103);
  EXPECT_EQ(looked_up(), 11u);
}

TEST_F(TagBanksTest, TakesACycleForEachLineOfTheFullestBank) {
  // Lanes are 33 words apart.  Of the 32 lines, 0 to 31, eight stand in each bank.
  issue(load(), 4 * 33, 100);
  EXPECT_EQ(looked_up(), 4u);
  issue(load(), 4, 101);
  run(101, 107);
  EXPECT_EQ(looked_up(), 28u);
  run(107, 108);
  EXPECT_EQ(looked_up(), 32u);
  run(108, 109);
  EXPECT_EQ(looked_up(), 33u);
}

TEST_F(TagBanksTest, ChoosesABankByAllPairsOfAddressBits) {
  const auto load_of = [&](std::array<unsigned, 4> line_of, std::int64_t now) {
    LaneAddresses address;
    for (unsigned lane = 0; lane < 32; ++lane)
      address[lane] = base + line_of[lane / 8] * 128 + lane * 4;
    unit.issue_lines(WarpSlot(0), world.instruction(load()), world.record(load()), ~0u, address,
                     false, Flights::none, FaultableAccesses::none, SmCycle(now));
  };
  load_of({0, 4, 8, 12}, 100);
  EXPECT_EQ(looked_up(), 4u) << "XOR of the pairs is 0, 1, 2 and 3";
  load_of({0, 5, 10, 15}, 101);
  EXPECT_EQ(looked_up(), 5u) << "it is 0 of all";
  issue(load(), 4, 102);
  run(102, 105);
  EXPECT_EQ(looked_up(), 8u);
  run(105, 106);
  EXPECT_EQ(looked_up(), 9u);
}

/// Tiles of a texture spread over the banks: any lines of a fetch are compared so many at a time.
struct TextureTagsTest : LoadStoreUnitTest {
  TextureTagsTest()
      : LoadStoreUnitTest(
            [](SmSetup& setup) {
              setup.parameters.l1.lines_per_cycle = 4;
              setup.parameters.l1.texture_lines_per_cycle = 2;
              setup.parameters.l1.banked = true;
              setup.parameters.l1.tag_banks = true;
            },
            "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];\n"
            "st.global.u32 [%rd0], %r1;\n") {
    world.blocks.warp(WarpSlot(0)).paths.start(~0u, load(), 0);
  }
};

TEST_F(TextureTagsTest, ComparesSoManyLinesOfAFetchInACycleWhateverTheirBanks) {
  const auto looked_up = [&] { return world.statistics.tenant[0].l1_accesses.value(); };
  issue(load(), 4, 10);
  answer_pages(20);
  run(20, 40);
  answer_requests(50);
  const std::uint64_t before = looked_up();
  issue(load(), 128, 100);  // 32 lines, eight in each bank: 16 cycles by twos
  EXPECT_EQ(looked_up() - before, 2u);
  run(101, 115);
  EXPECT_EQ(looked_up() - before, 30u);
  run(115, 116);
  EXPECT_EQ(looked_up() - before, 32u);
}

/// A line of which one sector is there is asked for another one; does it become young?
struct RecencyTest : LoadStoreUnitTest {
  explicit RecencyTest(void (*change)(SmSetup&) = nullptr) : LoadStoreUnitTest(change) {}
  /// All lanes load the word at this place of the line, and memory answers.
  void touch(unsigned line, unsigned offset) {
    LaneAddresses address;
    address.fill(base + line * 128 + offset);
    unit.issue_lines(WarpSlot(0), world.instruction(load()), world.record(load()), ~0u, address,
                     false, Flights::none, FaultableAccesses::none, SmCycle(now));
    answer_pages(now + 1);
    run(now + 1, now + 10);
    answer_requests(now + 20);
    now += 100;
  }
  /// Two lines fill the set.  Returns whether the first one outlives a third.
  bool first_outlives() {
    l1.resize(8, SmCycle(0));  // four sets of two lines: 0, 5 and 10 stand in one
    touch(0, 0);
    touch(5, 0);
    touch(0, 64);
    touch(10, 0);
    return l1.cache().find(0) != L1Cache::none;
  }
  std::int64_t now = 100;
};

TEST_F(RecencyTest, ByHitsALineThatLacksTheSectorStaysOld) {
  EXPECT_FALSE(first_outlives());
}

struct TagRecencyTest : RecencyTest {
  TagRecencyTest()
      : RecencyTest([](SmSetup& setup) { setup.parameters.l1.recency = L1Recency::tags; }) {}
};

TEST_F(TagRecencyTest, ByTagsALineThatLacksTheSectorBecomesYoung) {
  EXPECT_TRUE(first_outlives());
}

TEST_F(LoadStoreUnitTest, ALoadCommitsWithItsLastAnswer) {
  Warp& warp = world.blocks.warp(WarpSlot(0));
  issue(load(), 128, 10);
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 1u);
  EXPECT_FALSE(warp.pending.empty());
  run(10, 60);
  answer_pages(60);
  run(60, 100);
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 1u);
  answer_requests(120);
  EXPECT_EQ(world.blocks.under_way().flights(WarpSlot(0)), 0u);
  EXPECT_GT(front_end.next_event(), SmCycle(120));
  EXPECT_NE(front_end.next_event(), no_cycle);
}

TEST_F(LoadStoreUnitTest, AStoreIsOutstandingUntilItsAcknowledgements) {
  const UnderWay& under_way = world.blocks.under_way();
  EXPECT_EQ(issue(store(), 4, 10), Flights::none);
  EXPECT_EQ(under_way.stores(WarpSlot(0)), 1u);
  EXPECT_EQ(under_way.unsent_stores(WarpSlot(0)), 1u);
  EXPECT_EQ(under_way.stores(place), 1u);
  answer_pages(20);
  run(20, 40);
  EXPECT_EQ(under_way.stores(WarpSlot(0)), 1u);
  EXPECT_EQ(under_way.unsent_stores(WarpSlot(0)), 0u);
  answer_requests(90);
  EXPECT_EQ(under_way.stores(WarpSlot(0)), 0u);
  EXPECT_EQ(under_way.stores(place), 0u);
}

TEST_F(LoadStoreUnitTest, WhatAnEndedTenantHasQueuedOrParkedNeverGoesOut) {
  issue(store(), 4, 10);
  issue(load(), 128, 10);
  unit.drop_tenant(TenantId(0), SmCycle(20));
  run(20, 60);
  EXPECT_EQ(world.requests(), 0u);
  EXPECT_EQ(world.blocks.under_way().stores(WarpSlot(0)), 0u);
  EXPECT_EQ(world.blocks.under_way().stores(place), 0u);
  EXPECT_EQ(translation.has_lines_to_leave(), false);
}

TEST_F(LoadStoreUnitTest, AFullQueueClosesTheGate) {
  for (unsigned i = 0; i < world.constants.parameters.memory_queue; ++i) {
    EXPECT_NE(front_end.memory_gate().open(), 0u);
    issue(load(), 128, 10);
  }
  EXPECT_EQ(front_end.memory_gate().open(), 0u);
}

}  // namespace
}  // namespace lockstep::load_store_unit_test
