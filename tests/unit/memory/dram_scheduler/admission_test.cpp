/// A DRAM scheduler that owns admission and looks at all that waits, in a real partition.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/past_the_l2.hpp"

namespace lockstep::test::dram_admission_test {
namespace {

/// At most two requests of tenant 1 wait in the queue.  Of a bank's requests the oldest one of
/// tenant 0 goes first, then the oldest of the others.
class TwoOfTenantOne final : public DramScheduler {
 public:
  static constexpr unsigned most = 2;
  struct Seen {
    unsigned most_waiting = 0;
    std::vector<std::uint16_t> served;  ///< tenants
    unsigned refused = 0;
  };
  explicit TwoOfTenantOne(Seen& seen) : seen_(seen) {}

  bool decides_admission() const override { return true; }
  bool admits(const DramQueue& queue, const MemoryRequest& request, bool write) const override {
    const bool may = queue.room(write) && (request.tenant != 1 || waiting_ < most);
    seen_.refused += !may;
    return may;
  }
  void on_arrival(const DramQueue& queue, std::uint32_t place, DramCycle) override {
    waiting_ += queue[place].tenant == 1;
    seen_.most_waiting = std::max(seen_.most_waiting, waiting_);
  }
  void on_served(const DramQueue& queue, std::uint32_t place, DramCycle) override {
    waiting_ -= queue[place].tenant == 1;
    seen_.served.push_back(queue[place].tenant);
  }

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    std::uint32_t best = DramEntry::none;
    for (std::uint64_t rest = queue.active_banks(); rest != 0; rest &= rest - 1) {
      const std::uint32_t place = candidate(queue, static_cast<unsigned>(std::countr_zero(rest)));
      if (best == DramEntry::none || goes_before(queue, place, best)) best = place;
    }
    DramChoice choice;
    if (best == DramEntry::none) return choice;
    const DramEntry& entry = queue[best];
    const DramCycle at = earliest_command(banks, entry);
    if (at > now) {
      choice.wake = at;
    } else {
      (banks.open_row(entry.bank) == entry.row ? choice.column : choice.row) = best;
    }
    return choice;
  }

  void serialize(Archive& archive) override { archive(waiting_); }

 private:
  static std::uint32_t candidate(const DramQueue& queue, std::uint32_t bank) {
    std::uint32_t last_order = queue.order(queue.oldest(bank));
    for (std::uint32_t place = queue.oldest(bank); place != DramEntry::none;
         place = queue.younger(place)) {
      EXPECT_LE(last_order, queue.order(place));  // oldest first
      last_order = queue.order(place);
      if (queue[place].tenant == 0) return place;
    }
    return queue.oldest(bank);
  }
  static bool goes_before(const DramQueue& queue, std::uint32_t a, std::uint32_t b) {
    if (queue[a].tenant != queue[b].tenant) return queue[a].tenant < queue[b].tenant;
    return queue.age(a) > queue.age(b);
  }

  Seen& seen_;
  unsigned waiting_ = 0;
};

MemoryParameters many_misses() {
  MemoryParameters p = small_memory();
  p.l2.mshrs = 32;
  p.l2.bank_queue = 4;
  p.dram.queue = 16;
  p.dram.write_queue = 0;
  return p;
}

PartitionBench::Policies policies(TwoOfTenantOne::Seen& seen) {
  return {std::make_unique<PastTheL2>(), std::make_unique<TwoOfTenantOne>(seen)};
}

/// Loads, stores and requests past the L2 of two tenants, over more lines than the L2 holds.
std::uint32_t traffic(PartitionBench& bench, unsigned seed, std::uint32_t count) {
  std::mt19937 random(seed);
  std::int64_t at = 0;
  for (std::uint32_t tag = 0; tag < count; ++tag) {
    at += random() % 8;
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, 128 * (random() % 256), 1, tag,
                                              static_cast<std::uint16_t>(random() % 4));
    r.tenant = static_cast<std::uint16_t>(random() % 2);
    r.flags = flag_local;  // what tenants may pass on unzeroed
    if (random() % 6 == 0) r.pc = PastTheL2::past;
    std::vector<std::byte> payload;
    if (random() % 3 == 0) {
      r.operation = MemoryOperation::store;
      payload.assign(4 + sector_bytes, std::byte{0xff});
    }
    bench.send(at, r, payload);
  }
  return count;
}

TEST(DramAdmission, NoMoreOfAClassWaitThanTheSchedulerAdmits) {
  TwoOfTenantOne::Seen seen;
  PartitionBench bench(many_misses(), 2, policies(seen));
  const std::uint32_t sent = traffic(bench, 1, 600);
  bench.run();
  EXPECT_EQ(bench.answers().size(), sent);
  EXPECT_TRUE(bench.partition().finished());
  EXPECT_EQ(seen.most_waiting, TwoOfTenantOne::most);
  EXPECT_GT(seen.refused, 0u);
}

TEST(DramAdmission, WalkingByAgeLetsAYoungerRequestOfTheBankGoFirst) {
  TwoOfTenantOne::Seen seen;
  PartitionBench bench(many_misses(), 2, policies(seen));
  // All of one DRAM row: three of tenant 1, of which the first is being served, then one of 0.
  for (std::uint32_t i = 0; i < 4; ++i) {
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, 32 * i, 1, i);
    r.line = 128 * (i % 2);
    r.sectors = static_cast<std::uint8_t>(1u << i);
    r.tenant = i == 3 ? 0 : 1;
    r.flags = flag_local;
    r.pc = PastTheL2::past;
    bench.send(0, r);
  }
  bench.run();
  ASSERT_EQ(seen.served.size(), 4u);
  EXPECT_EQ(seen.served.back(), 1u);
  EXPECT_NE(seen.served, (std::vector<std::uint16_t>{1, 1, 1, 0}));
}

TEST(DramAdmission, WindowsAndCheckpointsAnywhereChangeNothing) {
  TwoOfTenantOne::Seen seen, seen_cut;
  PartitionBench whole(many_misses(), 2, policies(seen));
  PartitionBench cut(many_misses(), 2, policies(seen_cut));
  traffic(whole, 3, 300);
  traffic(cut, 3, 300);
  whole.run_to(50'000);
  cut.run_to(700, 13);
  cut.restore(cut.save());
  cut.run_to(50'000, 17);
  EXPECT_EQ(seen.served, seen_cut.served);
  EXPECT_EQ(whole.statistics().tenant[1].queue_cycles.value(),
            cut.statistics().tenant[1].queue_cycles.value());
}

}  // namespace
}  // namespace lockstep::test::dram_admission_test
