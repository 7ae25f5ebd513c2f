/// What every registered DRAM scheduler must keep: nothing lost, nothing invented, nobody starved,
/// every command legal, the same choices after saving and restoring.  Registering one enrols it.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>

#include "tests/harness/policy_named.hpp"
#include "tests/harness/policy_variants.hpp"
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
    const bool turns = bank || p.turnaround == DramTurnaround::channel;
    if (a.kind == Kind::write && b.kind == Kind::read)
      need(turns ? write_end + (group ? p.wtr_l.count() : p.wtr_s.count())
                 : write_end - p.cl.count());
    if (a.kind == Kind::read && b.kind == Kind::write)
      need(read_end + (turns ? 2 : 0) - p.cwl.count());
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

constexpr std::uint16_t tenants = 3;

struct Traffic {
  std::int64_t at = 0;
  DramBench::Request request;
};

/// Requests of all tenants, from SMs and CPU.  A line belongs to one tenant and one sender.
std::vector<Traffic> random_traffic(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<Traffic> all;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    at += random() % 16 == 0 ? random() % 600 : random() % 4;
    DramBench::Request r;
    r.bank = static_cast<std::uint32_t>(random() % 16);
    r.row = static_cast<std::uint32_t>(random() % 6);
    r.tenant = static_cast<std::uint16_t>(r.row % tenants);
    r.source = r.row < tenants ? SourceKind::sm : SourceKind::host;
    r.write = random() % 3 == 0;
    r.sectors = static_cast<std::uint8_t>(1 + random() % 15);
    if (r.row == 4 && !r.write) r.walk_level = 3;
    if (r.source == SourceKind::sm)
      r.marks = static_cast<std::uint8_t>(r.row % 2 * mark_mostly_hit);
    all.push_back({at, r});
  }
  return all;
}

/// Sends as room allows: a request that finds none waits.  Its cycle.
std::int64_t send(DramBench& dram, const Traffic& t) {
  std::int64_t at = t.at;
  dram.run_before(at);
  MemoryRequest request;
  request.tenant = t.request.tenant;
  request.source = t.request.source;
  request.marks = t.request.marks;
  request.walk_level = t.request.walk_level;
  while (!dram.channel().room(request, t.request.write)) dram.run_before(++at);
  dram.send(at, t.request);
  return at;
}

/// Sends all from the `first` on; a quantum ends after every hundred.
void send(DramBench& dram, std::span<const Traffic> traffic, std::size_t first = 0) {
  for (std::size_t i = first; i < traffic.size(); ++i) {
    const std::int64_t at = send(dram, traffic[i]);
    if (i % 100 == 99) dram.decide(at);
  }
}

struct Case {
  std::string scheduler;
  bool write_queue;
  DramTurnaround turnaround = DramTurnaround::channel;
};

std::string name_of(const std::string& scheduler) {
  return policy_written<dram_scheduler_policies>(scheduler).name();
}

/// Returns the age at which a request goes first, where a variant sets it; 0: it never does.
std::optional<std::int64_t> age_in(const std::string& scheduler) {
  for (const std::string key : {"age_limit: ", "starve: "})
    if (const std::size_t at = scheduler.find(key); at != std::string::npos)
      return std::stoll(scheduler.substr(at + key.size()));
  return std::nullopt;
}

/// How long a request may wait behind others that come later; most wait for 5000 cycles.
std::int64_t longest_wait(const std::string& scheduler) {
  const std::string name = name_of(scheduler);
  const std::int64_t usual = name == "atlas" || name == "tcm" || name == "ctcm" ? 110'000 : 20'000;
  return std::max(usual, age_in(scheduler).value_or(0) * 11 / 10);
}

/// Those which let the GPU starve while the CPU asks, as their sources do.
bool starves_the_gpu(const std::string& scheduler) {
  const std::string name = name_of(scheduler);
  return name == "cfr-fcfs" || name == "ctcm";
}

/// Those in which a tenant's turn lets its requests pass earlier ones of its own.
bool has_turns(const std::string& scheduler) {
  return scheduler.find("mask") != std::string::npos;
}

class DramSchedulerContract : public testing::TestWithParam<Case> {
 protected:
  static DramParameters parameters() {
    DramParameters p = tiny_hbm2();
    p.refi = Cycles{2000};
    p.rfc = Cycles{200};
    p.queue = 24;
    p.turnaround = GetParam().turnaround;
    if (GetParam().write_queue) {
      p.write_queue = 12;
      p.write_high = 8;
      p.write_low = 3;
    }
    return p;
  }
  /// When a request is answered that asks for another row of a bank which others keep busy.
  static std::int64_t answer_beside(DramBench::Request others, DramBench::Request lonely,
                                    std::int64_t until) {
    DramBench dram(parameters(), GetParam().scheduler, tenants);
    dram.read(0, 0, 1);
    lonely.row = 2;
    others.row = 1;
    const std::uint32_t number = dram.send(0, lonely);
    for (std::int64_t at = 1; at < until; at += 3) {
      send(dram, {at, others});
      if (at % 10'000 == 1) dram.decide(at);
    }
    for (const auto& [answered, cycle] : dram.returned())
      if (answered == number) return cycle;
    ADD_FAILURE() << "not answered";
    return -1;
  }
};

TEST_P(DramSchedulerContract, ServesEveryRequestOnceWithLegalCommands) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    DramBench dram(parameters(), GetParam().scheduler, tenants);
    const auto traffic = random_traffic(seed, 400);
    send(dram, traffic);
    dram.run();
    EXPECT_EQ(dram.served(), traffic.size());
    EXPECT_TRUE(dram.channel().empty());
    std::vector<std::uint32_t> order = dram.order();
    std::sort(order.begin(), order.end());
    EXPECT_EQ(std::adjacent_find(order.begin(), order.end()), order.end());
    const auto reads = std::count_if(traffic.begin(), traffic.end(),
                                     [](const Traffic& t) { return !t.request.write; });
    EXPECT_EQ(order.size(), static_cast<std::size_t>(reads));
    for (const std::uint32_t number : order) EXPECT_FALSE(traffic.at(number).request.write);
    expect_legal(dram.commands(), parameters());
  }
}

TEST_P(DramSchedulerContract, KeepsTheOrderOfReadsOfALine) {
  if (has_turns(GetParam().scheduler)) GTEST_SKIP() << "turns change the order, as in the source";
  for (unsigned seed = 0; seed < 10; ++seed) {
    DramBench dram(parameters(), GetParam().scheduler, tenants);
    const auto traffic = random_traffic(seed, 600);
    send(dram, traffic);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> last;
    for (const std::uint32_t number : dram.order()) {
      const DramBench::Request& r = traffic[number].request;
      const auto [line, first] = last.try_emplace({r.bank, r.row}, number);
      EXPECT_TRUE(first || line->second < number) << seed << ' ' << number;
      line->second = number;
    }
  }
}

TEST_P(DramSchedulerContract, LetsNobodyWaitForEver) {
  if (age_in(GetParam().scheduler) == 0) GTEST_SKIP() << "no request is too old";
  const std::int64_t longest = longest_wait(GetParam().scheduler);
  EXPECT_LT(answer_beside({}, {}, 2 * longest), longest);
  EXPECT_LT(answer_beside({.tenant = 1}, {}, 2 * longest), longest);
  EXPECT_LT(answer_beside({}, {.tenant = 1}, 2 * longest), longest);
}

TEST_P(DramSchedulerContract, LetsTheGpuWaitForTheCpuOnlyIfItSaysSo) {
  if (age_in(GetParam().scheduler) == 0) GTEST_SKIP() << "no request is too old";
  const std::int64_t longest = longest_wait(GetParam().scheduler);
  const std::int64_t answer = answer_beside({.source = SourceKind::host}, {}, 2 * longest);
  if (starves_the_gpu(GetParam().scheduler)) {
    EXPECT_GT(answer, 2 * longest - 10);
    EXPECT_LT(answer, 2 * longest + 1000);  // the CPU has fallen silent
  } else {
    EXPECT_LT(answer, longest);
  }
  EXPECT_LT(answer_beside({}, {.source = SourceKind::host}, 2 * longest), longest);
}

TEST_P(DramSchedulerContract, ChoosesTheSameAfterSavingAndRestoring) {
  const auto traffic = random_traffic(5, 700);
  DramBench whole(parameters(), GetParam().scheduler, tenants);
  send(whole, traffic);
  DramBench first(parameters(), GetParam().scheduler, tenants),
      second(parameters(), GetParam().scheduler, tenants);
  send(first, std::span(traffic).first(350));
  second.restore(first.save());
  send(second, traffic, 350);
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
  for (const std::string& variant : policy_variants(dram_scheduler_policies()))
    for (const bool write_queue : {false, true}) {
      MemoryParameters memory = memory_of(tiny_hbm2());
      memory.dram.write_queue = write_queue ? 12 : 0;
      const PolicyChoice choice = policy_written<dram_scheduler_policies>(variant);
      const auto objection = dram_schedulers().factory(choice).objection;
      if (objection != nullptr && !objection(memory).empty()) continue;
      all.push_back({variant, write_queue});
      if (variant == choice.name()) all.push_back({variant, write_queue, DramTurnaround::bank});
    }
  // Levels that decide in their bank only.
  for (const std::string name : {"medic", "mask"})
    all.push_back({"{name: " + name + ", first: bank, open_rows: true, writes: false}", false});
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryScheduler, DramSchedulerContract, testing::ValuesIn(cases()),
                         [](const auto& test) {
                           return variant_name(test.param.scheduler) +
                                  (test.param.write_queue ? "_with_write_queue" : "") +
                                  (test.param.turnaround == DramTurnaround::bank ? "_bank_turns"
                                                                                 : "");
                         });

}  // namespace
}  // namespace lockstep::test::dram_scheduler_contract_test
