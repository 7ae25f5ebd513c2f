/// What every registered DRAM scheduler must keep: nothing lost, nothing invented, nobody starved,
/// every command legal, the same choices after saving and restoring.  Registering one enrols it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::dram_scheduler_contract_test {
namespace {

/// Checks a list of commands against the timing parameters, pair by pair, knowing nothing of how
/// the channel computes them.
void expect_legal(const std::vector<DramCommand>& commands, const DramParameters& p) {
  using Kind = DramCommandKind;
  const auto column = [](const DramCommand& c) {
    return c.kind == Kind::read || c.kind == Kind::write;
  };
  const std::int64_t read_end = p.cl.count() + p.burst.count();
  const std::int64_t write_end = p.cwl.count() + p.burst.count();
  const auto least = [&](const DramCommand& a, const DramCommand& b) -> std::int64_t {
    const bool bank = a.bank == b.bank, group = (a.bank ^ b.bank) % p.bank_groups == 0;
    std::int64_t gap = 0;
    const auto need = [&gap](std::int64_t cycles) { gap = std::max(gap, cycles); };
    if (a.kind == Kind::activate && b.kind == Kind::activate)
      need(bank ? p.rc.count() : group ? p.rrd_l.count() : p.rrd_s.count());
    if (a.kind == Kind::activate && b.kind == Kind::precharge && bank) need(p.ras.count());
    if (a.kind == Kind::activate && b.kind == Kind::read && bank) need(p.rcd_read.count());
    if (a.kind == Kind::activate && b.kind == Kind::write && bank) need(p.rcd_write.count());
    if (a.kind == Kind::precharge && b.kind == Kind::activate && bank) need(p.rp.count());
    if (a.kind == Kind::read && b.kind == Kind::precharge && bank) need(p.rtp.count());
    if (a.kind == Kind::write && b.kind == Kind::precharge && bank) need(write_end + p.wr.count());
    if (column(a) && column(b)) need(group ? p.ccd_l.count() : p.ccd_s.count());
    if (a.kind == Kind::write && b.kind == Kind::read)
      need(write_end + (group ? p.wtr_l.count() : p.wtr_s.count()));
    if (a.kind == Kind::read && b.kind == Kind::write) need(read_end + 2 - p.cwl.count());
    return gap;
  };
  std::vector<DramCycle> activates;
  std::map<std::uint32_t, std::int64_t> open;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const DramCommand& b = commands[i];
    for (std::size_t j = i > 200 ? i - 200 : 0; j < i; ++j)
      ASSERT_GE(b.cycle - commands[j].cycle, least(commands[j], b)) << j << ' ' << i;
    if (column(b)) {
      ASSERT_EQ(open[b.bank], b.row) << i;
    }
    if (b.kind == Kind::activate) {
      open[b.bank] = b.row;
      activates.push_back(b.cycle);
      const std::size_t n = activates.size();
      if (n > 4) {
        ASSERT_GE(activates[n - 1] - activates[n - 5], p.faw.count());
      }
      const std::int64_t refi = p.refi.count();
      ASSERT_TRUE(b.cycle.value() < refi || b.cycle.value() % refi >= p.rfc.count()) << i;
    }
    if (b.kind == Kind::precharge) open[b.bank] = -1;
  }
}

struct Traffic {
  std::int64_t at;
  bool write;
  std::uint32_t bank, row;
  std::uint8_t sectors;
};

std::vector<Traffic> random_traffic(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<Traffic> all;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    at += random() % 16 == 0 ? random() % 600 : random() % 4;
    all.push_back({at, random() % 3 == 0, static_cast<std::uint32_t>(random() % 16),
                   static_cast<std::uint32_t>(random() % 3),
                   static_cast<std::uint8_t>(1 + random() % 15)});
  }
  return all;
}

/// Sends as room allows: a request that finds none waits.
void send(DramBench& dram, const Traffic& t) {
  std::int64_t at = t.at;
  dram.run_before(at);
  while (!dram.channel().room({}, t.write)) dram.run_before(++at);
  dram.request(at, t.write, t.bank, t.row, t.sectors);
}

struct Case {
  std::string scheduler;
  bool write_queue;
};

class DramSchedulerContract : public testing::TestWithParam<Case> {
 protected:
  static DramParameters parameters() {
    DramParameters p = tiny_hbm2();
    p.refi = Cycles{2000};
    p.rfc = Cycles{200};
    p.queue = 24;
    if (GetParam().write_queue) {
      p.write_queue = 12;
      p.write_high = 8;
      p.write_low = 3;
    }
    return p;
  }
};

TEST_P(DramSchedulerContract, ServesEveryRequestOnceWithLegalCommands) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    DramBench dram(parameters(), GetParam().scheduler);
    const auto traffic = random_traffic(seed, 400);
    std::size_t reads = 0;
    for (const Traffic& t : traffic) {
      send(dram, t);
      reads += !t.write;
    }
    dram.run();
    EXPECT_EQ(dram.served(), traffic.size());
    auto returned = dram.returned();
    EXPECT_EQ(returned.size(), reads);
    std::sort(returned.begin(), returned.end());
    EXPECT_EQ(std::adjacent_find(returned.begin(), returned.end(),
                                 [](const auto& a, const auto& b) { return a.first == b.first; }),
              returned.end());
    for (const auto& [number, cycle] : returned) EXPECT_FALSE(traffic.at(number).write);
    expect_legal(dram.commands(), parameters());
  }
}

TEST_P(DramSchedulerContract, LetsNobodyWaitForEver) {
  DramBench dram(parameters(), GetParam().scheduler);
  // One request for another row of a bank that hits keep busy.
  dram.read(0, 0, 1);
  const std::uint32_t lonely = dram.read(0, 0, 2);
  for (std::int64_t at = 1; at < 40000; at += 3) send(dram, {at, false, 0, 1, 1});
  for (const auto& [number, cycle] : dram.returned())
    if (number == lonely) {
      EXPECT_LT(cycle, 20000);
    }
}

TEST_P(DramSchedulerContract, ChoosesTheSameAfterSavingAndRestoring) {
  const auto traffic = random_traffic(5, 300);
  DramBench whole(parameters(), GetParam().scheduler);
  for (const Traffic& t : traffic) send(whole, t);
  DramBench first(parameters(), GetParam().scheduler), second(parameters(), GetParam().scheduler);
  for (std::size_t i = 0; i < 150; ++i) send(first, traffic[i]);
  second.restore(first.save());
  for (std::size_t i = 150; i < traffic.size(); ++i) send(second, traffic[i]);
  const auto& expected = whole.commands();
  const auto& rest = second.commands();
  ASSERT_LT(rest.size(), expected.size());
  const std::size_t skipped = expected.size() - rest.size();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(rest[i].cycle, expected[skipped + i].cycle);
    EXPECT_EQ(rest[i].bank, expected[skipped + i].bank);
    EXPECT_EQ(rest[i].kind, expected[skipped + i].kind);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const PolicyInfo& info : dram_scheduler_policies())
    for (const bool write_queue : {false, true}) all.push_back({info.name, write_queue});
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryScheduler, DramSchedulerContract, testing::ValuesIn(cases()),
                         [](const auto& test) {
                           std::string name = test.param.scheduler;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (test.param.write_queue ? "_with_write_queue" : "");
                         });

}  // namespace
}  // namespace lockstep::test::dram_scheduler_contract_test
