#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::dram_timing_test {
namespace {

// Banks 0 and 4 are in bank group 0, bank 1 is in group 1.
constexpr std::uint32_t same_group = 4, other_group = 1;

TEST(DramTiming, AColdReadActivatesThenReads) {
  DramBench dram;
  dram.read(0, 0, 7);
  EXPECT_EQ(dram.names(), "ACT RD");
  EXPECT_EQ(dram.gap(0, 1), dram.timing().rcd_read.count());
  EXPECT_EQ(dram.returned()[0].second, 14 + 14 + 1);
}

TEST(DramTiming, SecondReadOfAnOpenRowWaitsOnlyForTheBankGroup) {
  DramBench dram;
  dram.read(0, 0, 7);
  dram.read(0, 0, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT RD RD");
  EXPECT_EQ(dram.gap(1, 2), dram.timing().ccd_l.count());
}

TEST(DramTiming, SectorsOfALineAreColumnsOfOneRow) {
  DramBench dram;
  dram.read(0, 0, 7, 15);
  EXPECT_EQ(dram.names(), "ACT RD RD RD RD");
  EXPECT_EQ(dram.returned().size(), 1u);
  EXPECT_EQ(dram.returned()[0].second, 14 + 3 * 2 + 14 + 1);
}

TEST(DramTiming, ReadsOfTwoBankGroupsAlternateAtTheShortGap) {
  DramBench dram;
  dram.read(0, 0, 7, 3);
  dram.read(0, other_group, 7, 3);
  // The second activate waits tRRD_S, its reads fill the gaps where they can.
  EXPECT_EQ(dram.names(), "ACT ACT RD RD RD RD");
  EXPECT_EQ(dram.gap(0, 1), dram.timing().rrd_s.count());
  dram.read(1000, 0, 7, 3, 1);
  dram.read(1000, other_group, 7, 3, 1);
  EXPECT_EQ(dram.gap(6, 9), 3 * dram.timing().ccd_s.count());
}

TEST(DramTiming, AnotherRowNeedsPrechargeAndActivate) {
  DramBench dram;
  dram.read(0, 0, 7);
  dram.read(0, 0, 8);
  EXPECT_EQ(dram.names(), "ACT RD PRE ACT RD");
  // tRAS holds the precharge back, then tRP.
  EXPECT_EQ(dram.gap(0, 2), dram.timing().ras.count());
  EXPECT_EQ(dram.gap(2, 3), dram.timing().rp.count());
  EXPECT_EQ(dram.gap(0, 3), dram.timing().rc.count());
}

TEST(DramTiming, AClosedRowNeedsNoCommandToCloseAndIsOpenedAgain) {
  DramParameters p = tiny_hbm2();
  p.rows = DramRows::closed;
  DramBench dram(p);
  dram.read(0, 0, 7);
  dram.read(200, 0, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT RD ACT RD");
  EXPECT_EQ(dram.statistics().precharges.value(), 2u);
}

TEST(DramTiming, AClosedRowStaysOpenForRequestsThatWaitForIt) {
  DramParameters p = tiny_hbm2();
  p.rows = DramRows::closed;
  DramBench dram(p);
  dram.read(0, 0, 7);
  dram.read(0, 0, 7, 1, 1);
  dram.read(0, 0, 8);
  EXPECT_EQ(dram.names(), "ACT RD RD ACT RD");
  // The second column holds its precharge back, the precharge the next row.
  EXPECT_EQ(dram.gap(0, 3), std::max(dram.timing().rc.count(),
                                     std::max(dram.timing().ras.count(),
                                              dram.gap(0, 2) + dram.timing().rtp.count()) +
                                         dram.timing().rp.count()));
}

TEST(DramTiming, ALateReadDelaysThePrechargeByReadToPrecharge) {
  DramBench dram;
  dram.read(0, 0, 7);
  dram.read(60, 0, 7, 1, 1);
  dram.read(60, 0, 8);
  EXPECT_EQ(dram.names(), "ACT RD RD PRE ACT RD");
  EXPECT_EQ(dram.gap(2, 3), dram.timing().rtp.count());
}

TEST(DramTiming, ActivatesInAGroupAreFurtherApart) {
  DramBench dram;
  dram.read(0, 0, 7);
  dram.read(0, same_group, 7);
  EXPECT_EQ(dram.gap(0, 1), dram.timing().rrd_l.count());
}

TEST(DramTiming, AFifthActivateWaitsForTheWindowOfFour) {
  DramParameters p = tiny_hbm2();
  p.rrd_l = p.rrd_s;
  DramBench dram(p);
  for (std::uint32_t bank = 0; bank < 5; ++bank) dram.read(0, bank, 7);
  std::vector<std::int64_t> activates;
  for (const DramCommand& c : dram.commands())
    if (c.kind == DramCommandKind::activate) activates.push_back(c.cycle.value());
  ASSERT_EQ(activates.size(), 5u);
  EXPECT_EQ(activates[3], 3 * 4);
  EXPECT_EQ(activates[4], dram.timing().faw.count());
}

TEST(DramTiming, AReadAfterAWriteWaitsForTheDataAndTheTurn) {
  DramBench dram;
  dram.write(0, 0, 7);
  dram.read(0, 0, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT WR RD");
  EXPECT_EQ(dram.gap(1, 2), 4 + 1 + 8);  // CWL + burst + tWTR_L
}

TEST(DramTiming, AReadOfAnotherGroupAfterAWriteWaitsTheShortTurn) {
  DramBench dram;
  dram.write(0, 0, 7);
  dram.read(0, other_group, 7);
  EXPECT_EQ(dram.names(), "ACT ACT WR RD");
  EXPECT_EQ(dram.gap(2, 3), 4 + 1 + 6);
}

TEST(DramTiming, AWriteAfterAReadLeavesTheBusTwoCyclesToTurn) {
  DramBench dram;
  dram.read(0, 0, 7);
  dram.write(0, 0, 7);
  EXPECT_EQ(dram.names(), "ACT RD WR");
  EXPECT_EQ(dram.gap(1, 2), 14 + 1 + 2 - 4);  // CL + burst + 2 - CWL
}

/// Two banks whose rows are open, from cycle 1000 on.
class TurnsOfBanks {
 public:
  explicit TurnsOfBanks(std::int64_t cwl = 4) {
    DramParameters p = tiny_hbm2();
    p.turnaround = DramTurnaround::bank;
    p.cwl = Cycles{cwl};
    dram_.emplace(p);
    dram_->read(0, 0, 7);
    dram_->read(0, other_group, 7);
    dram_->run_before(1000);
  }
  /// Cycles from a column of bank 0 to one of a bank that comes with it.
  std::int64_t gap(bool writes, std::uint32_t bank, bool writes_then) {
    dram_->send(1000, {.bank = 0, .row = 7, .write = writes});
    dram_->send(1000, {.bank = bank, .row = 7, .write = writes_then});
    EXPECT_EQ(dram_->commands().size(), 6u);
    return dram_->gap(4, 5);
  }

 private:
  std::optional<DramBench> dram_;
};

TEST(DramTiming, ABankThatTurnsByItselfWaitsAsInAChannel) {
  EXPECT_EQ(TurnsOfBanks().gap(true, 0, false), 4 + 1 + 8);       // CWL + burst + tWTR_L
  EXPECT_EQ(TurnsOfBanks().gap(false, 0, true), 14 + 1 + 2 - 4);  // CL + burst + 2 - CWL
}

TEST(DramTiming, OtherBanksWaitForTheBusAloneWhenABankTurnsByItself) {
  EXPECT_EQ(TurnsOfBanks().gap(true, other_group, false), 1);              // tCCD_S
  EXPECT_EQ(TurnsOfBanks().gap(false, other_group, true), 14 + 1 - 4);     // CL + burst - CWL
  EXPECT_EQ(TurnsOfBanks(20).gap(true, other_group, false), 20 + 1 - 14);  // CWL + burst - CL
  EXPECT_EQ(TurnsOfBanks(20).gap(false, other_group, true), 1);
}

TEST(DramTiming, APrechargeAfterAWriteWaitsForWriteRecovery) {
  DramBench dram;
  dram.write(0, 0, 7);
  dram.read(0, 0, 8);
  EXPECT_EQ(dram.names(), "ACT WR PRE ACT RD");
  EXPECT_EQ(dram.gap(1, 2), 4 + 1 + 16);
}

TEST(DramTiming, TwoCommandBusesIssueARowAndAColumnCommandTogether) {
  for (const bool dual : {true, false}) {
    DramParameters p = tiny_hbm2();
    p.dual_command_bus = dual;
    DramBench dram(p);
    dram.read(0, 0, 7, 15);
    dram.read(14, other_group, 7);
    const auto& c = dram.commands();
    EXPECT_EQ(c[1].cycle.value(), 14);
    EXPECT_EQ(c[2].cycle.value(), dual ? 14 : 15);
  }
}

TEST(DramTiming, AWideAtomMovesTwoSectorsAtOnce) {
  DramParameters p = tiny_hbm2();
  p.atom = Bytes{64};
  DramBench dram(p);
  dram.read(0, 0, 7, 0b1011);
  EXPECT_EQ(dram.names(), "ACT RD RD");
}

TEST(DramTiming, ARefreshClosesAllRowsAndHoldsActivatesBack) {
  DramParameters p = tiny_hbm2();
  p.refi = Cycles{1000};
  p.rfc = Cycles{260};
  DramBench dram(p);
  dram.read(0, 0, 7);
  dram.read(1100, 0, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT RD ACT RD");
  EXPECT_EQ(dram.commands()[2].cycle.value(), 1000 + 260);
}

/// Sixteen banks: one every 100 cycles, bank 0 first.
DramParameters refreshed_by_banks() {
  DramParameters p = tiny_hbm2();
  p.refi = Cycles{1600};
  p.rfc = Cycles{260};
  p.rfc_bank = Cycles{150};
  return p;
}

TEST(DramTiming, ARefreshOfOneBankLeavesTheOthersOpen) {
  DramBench dram(refreshed_by_banks());
  dram.read(0, 0, 7);
  dram.read(0, other_group, 7);
  dram.run_before(110);
  dram.read(110, 0, 7, 1, 1);
  dram.read(110, other_group, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT ACT RD RD RD ACT RD");
  EXPECT_EQ(dram.commands()[4].bank, other_group);
  EXPECT_EQ(dram.commands()[5].cycle.value(), 100 + 150);
}

TEST(DramTiming, BanksAreRefreshedInTurn) {
  DramBench dram(refreshed_by_banks());
  dram.read(0, other_group, 7);
  dram.run_before(1850);
  dram.read(1850, other_group, 7, 1, 1);
  // Bank 1 was second, at 200 and at 1800; bank 2 follows while it waits.
  EXPECT_EQ(dram.commands()[2].cycle.value(), 1800 + 150);
  EXPECT_EQ(dram.channel().banks().refreshes(), 19);
}

TEST(DramTiming, RefreshesCostNothingWhileNobodyLooks) {
  DramParameters p = tiny_hbm2();
  p.refi = Cycles{1000};
  p.rfc = Cycles{260};
  DramBench dram(p);
  dram.read(0, 0, 7);
  dram.run();
  EXPECT_EQ(dram.channel().next_activity(), Time::never());
  dram.read(1'000'000'500, 0, 7, 1, 1);
  EXPECT_EQ(dram.channel().banks().refreshes(), 1'000'000);
  EXPECT_EQ(dram.commands()[2].cycle.value(), 1'000'000'500);
}

TEST(DramScheduling, FrFcfsServesAYoungerHitBeforeAnOlderMiss) {
  DramBench dram;
  dram.read(0, 0, 7);
  dram.read(1, 0, 8);
  dram.read(2, 0, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT RD RD PRE ACT RD");
  EXPECT_EQ(dram.statistics().tenant[0].row_hits.value(), 1u);
  EXPECT_EQ(dram.statistics().tenant[0].row_misses.value(), 2u);
}

TEST(DramScheduling, FcfsServesInOrder) {
  DramBench dram(tiny_hbm2(), "fcfs");
  dram.read(0, 0, 7);
  dram.read(1, 0, 8);
  dram.read(2, 0, 7, 1, 1);
  EXPECT_EQ(dram.names(), "ACT RD PRE ACT RD PRE ACT RD");
}

TEST(DramScheduling, FrFcfsOpensRowsOfOtherBanksMeanwhile) {
  DramBench dram;
  for (std::uint32_t bank = 0; bank < 4; ++bank) dram.read(0, bank, 7);
  EXPECT_EQ(dram.names(), "ACT ACT ACT ACT RD RD RD RD");
}

TEST(DramScheduling, AnOldMissIsNotHeldUpByHitsForEver) {
  DramBench dram;
  dram.read(0, 0, 7);
  const std::uint32_t old = dram.read(1, 0, 8);
  for (std::int64_t at = 2; at < 7000; at += 2) dram.read(at, 0, 7, 1, std::size_t(at / 2 % 16));
  for (const auto& [number, cycle] : dram.returned())
    if (number == old) {
      EXPECT_LT(cycle, 5200);
    }
}

TEST(DramScheduling, WritesWaitUntilManyAreThereOrNoReadIs) {
  DramParameters p = tiny_hbm2();
  p.write_queue = 8;
  p.write_high = 4;
  p.write_low = 1;
  DramBench dram(p);
  dram.read(0, 0, 7);
  for (int i = 0; i < 3; ++i) dram.write(1, other_group, 7);
  dram.read(2, 0, 7, 1, 1);
  // Three writes are too few to go before reads.
  EXPECT_EQ(dram.names(), "ACT RD RD ACT WR WR WR");
}

TEST(DramScheduling, ManyWritesGoBeforeReads) {
  DramParameters p = tiny_hbm2();
  p.write_queue = 8;
  p.write_high = 4;
  p.write_low = 1;
  DramBench dram(p);
  dram.read(0, 0, 7);
  for (int i = 0; i < 4; ++i) dram.write(1, 0, 7);
  EXPECT_EQ(dram.names(), "ACT WR WR WR RD WR");
}

TEST(DramAddressing, ASequentialStreamTurnsThroughTheBankGroups) {
  DramBench dram;
  for (std::uint64_t chunk = 0; chunk < 64; ++chunk) {
    const auto a = dram.channel().locate(PartitionOffset{256 * chunk}),
               b = dram.channel().locate(PartitionOffset{256 * (chunk + 1)});
    EXPECT_NE(a.bank % 4, b.bank % 4) << chunk;
  }
}

TEST(DramAddressing, ARowHoldsItsSize) {
  DramBench dram;
  std::map<std::pair<unsigned, unsigned>, unsigned> bytes;
  for (std::uint64_t offset = 0; offset < (1 << 18); offset += 32) {
    const auto a = dram.channel().locate(PartitionOffset{offset});
    bytes[{a.bank, a.row}] += 32;
  }
  EXPECT_EQ(bytes.size(), (1u << 18) / 2048);
  for (const auto& [place, count] : bytes) EXPECT_EQ(count, 2048u);
}

}  // namespace
}  // namespace lockstep::test::dram_timing_test
