/// A DRAM scheduler that divides the queue: pools of places, and levels of urgency.
#include <gtest/gtest.h>

#include <bit>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::dram_division_test {
namespace {

constexpr std::uint16_t urgent = 0, patient = 1;  // tenants

/// Tenant 1 has two places of its own; while a request of tenant 0 waits, none of its goes.
class TwoClasses final : public DramScheduler {
 public:
  DramDivision division() const override { return {{4, 2}, 2}; }
  DramLane lane(const MemoryRequest& request, bool) const override {
    const auto number = static_cast<std::uint8_t>(request.tenant == patient);
    return {number, number};
  }
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    const unsigned level = queue.active_banks(0) != 0 ? 0 : 1;
    std::uint32_t first = DramEntry::none;
    for (std::uint64_t rest = queue.active_banks(level); rest != 0; rest &= rest - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint32_t place = queue.oldest(bank, level);
      if (first == DramEntry::none || queue.age(place) > queue.age(first)) first = place;
    }
    DramChoice choice;
    if (first == DramEntry::none) return choice;
    const DramEntry& entry = queue[first];
    const DramCycle at = earliest_command(banks, entry);
    if (at > now) {
      choice.wake = at;
    } else {
      (banks.open_row(entry.bank) == entry.row ? choice.column : choice.row) = first;
    }
    return choice;
  }
};

MemoryRequest of(std::uint16_t tenant) {
  MemoryRequest request;
  request.tenant = tenant;
  return request;
}

class DramDivisionOf : public testing::Test {
 protected:
  DramBench dram{tiny_hbm2(), std::make_unique<TwoClasses>()};
};

// A5 of memory-interference.md, section 11.
TEST_F(DramDivisionOf, AFullPoolOfPatientRequestsHoldsUpNoUrgentOne) {
  dram.send(0, {.bank = 0, .row = 1, .tenant = patient});
  dram.send(0, {.bank = 0, .row = 1, .tenant = patient});
  EXPECT_FALSE(dram.channel().room(of(patient), false));
  EXPECT_TRUE(dram.channel().room(of(urgent), false));
  dram.send(0, {.bank = 0, .row = 2, .tenant = urgent});
  EXPECT_EQ(dram.order(), (std::vector<std::uint32_t>{2, 0, 1}));
  EXPECT_TRUE(dram.channel().room(of(patient), false));
}

TEST_F(DramDivisionOf, AFullPoolOfUrgentRequestsLeavesThePatientTheirPlaces) {
  for (int i = 0; i < 4; ++i) dram.send(0, {.bank = 0, .row = 1, .tenant = urgent});
  EXPECT_FALSE(dram.channel().room(of(urgent), false));
  EXPECT_TRUE(dram.channel().room(of(patient), false));
  dram.run();
  EXPECT_TRUE(dram.channel().room(of(urgent), false));
}

TEST_F(DramDivisionOf, LevelsAndPoolsAreKeptAcrossSavingAndRestoring) {
  dram.send(0, {.bank = 0, .row = 1, .tenant = patient});
  dram.send(0, {.bank = 0, .row = 1, .tenant = patient});
  dram.send(0, {.bank = 0, .row = 2, .tenant = urgent});
  DramBench other(tiny_hbm2(), std::make_unique<TwoClasses>());
  other.restore(dram.save());
  EXPECT_FALSE(other.channel().room(of(patient), false));
  EXPECT_EQ(other.returned(), dram.returned());
}

}  // namespace
}  // namespace lockstep::test::dram_division_test
