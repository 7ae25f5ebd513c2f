/// Columns issued in one go come at the times at which they would one by one.
#include <gtest/gtest.h>

#include "core/random/random.hpp"
#include "tests/unit/memory/dram_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::dram_columns_test {
namespace {

/// fr-fcfs, asked again before each column.
class AskedAgain final : public DramScheduler {
 public:
  AskedAgain() : asked_(dram_scheduler_named("fr-fcfs")) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    return asked_->choose(queue, banks, now);
  }

 private:
  std::unique_ptr<DramScheduler> asked_;
};

/// Lets the channel act up to a cycle: with one look each time, or as far as it can go at once.
void run_to(DramBench& dram, std::int64_t cycle, bool at_once) {
  const Time last = Clock(dram.timing().clock).period() * cycle;
  while (dram.channel().next_activity() <= last)
    dram.channel().step(at_once ? last : dram.channel().next_activity());
}

/// Few requests, so that most are alone for some of their columns, and long gaps, so that refreshes
/// come between columns.
void send_randomly(DramBench& dram, std::uint64_t seed, bool at_once) {
  Random random(seed, ComponentId{0}, 0);
  std::int64_t at = 0;
  for (int i = 0; i < 2000; ++i) {
    at += static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 60 : 6));
    run_to(dram, at - 1, at_once);
    dram.send(at, {.bank = static_cast<std::uint32_t>(random.below(3)),
                   .row = static_cast<std::uint32_t>(random.below(2)),
                   .tenant = static_cast<std::uint16_t>(random.below(2)),
                   .write = random.below(3) == 0,
                   .sectors = static_cast<std::uint8_t>(1 + random.below(15)),
                   .line = random.below(8)});
  }
  run_to(dram, at + 100000, at_once);
}

void expect_same(DramBench& one, DramBench& other) {
  ASSERT_EQ(one.commands().size(), other.commands().size());
  for (std::size_t i = 0; i < one.commands().size(); ++i) {
    const DramCommand &a = one.commands()[i], &b = other.commands()[i];
    ASSERT_TRUE(a.cycle == b.cycle && a.kind == b.kind && a.bank == b.bank && a.row == b.row) << i;
  }
  const StatisticsView a = statistics_view(one.statistics());
  const StatisticsView b = statistics_view(other.statistics());
  std::vector<std::uint64_t> words_a(a.schema->row_size(2)), words_b(words_a.size());
  a.schema->gather(a.values, 2, words_a);
  b.schema->gather(b.values, 2, words_b);
  EXPECT_EQ(words_a, words_b);
}

void expect_same_in_one_go(DramTurnaround turnaround) {
  for (const std::int64_t refresh : {0, 97, 1000})
    for (const std::int64_t of_a_bank : {0, 30})
      for (const std::uint32_t write_queue : {0u, 16u}) {
        DramParameters p = tiny_hbm2();
        p.turnaround = turnaround;
        p.refi = Cycles{refresh};
        p.rfc = Cycles{40};
        p.rfc_bank = Cycles{refresh > 100 ? of_a_bank : 0};
        p.queue = 4096;
        p.write_queue = write_queue == 0 ? 0 : 4096;
        DramBench at_once(p), one_by_one(p, std::make_unique<AskedAgain>());
        send_randomly(at_once, 7, true);
        send_randomly(one_by_one, 7, false);
        expect_same(at_once, one_by_one);
      }
}

TEST(DramColumns, ComeInOneGoWhenTheyWouldOneByOne) {
  expect_same_in_one_go(DramTurnaround::channel);
  expect_same_in_one_go(DramTurnaround::bank);
}

}  // namespace
}  // namespace lockstep::test::dram_columns_test
