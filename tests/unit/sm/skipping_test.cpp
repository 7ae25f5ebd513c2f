/// Cycles in which an SM has nothing to do are passed over at once, and counted
/// (virtual-memory-and-exceptions.md, sections 7 and 16).
#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::skipping_test {
namespace {

struct Skipped {
  std::uint64_t cycles = 0, skips = 0;
  bool operator==(const Skipped&) const = default;
};

Skipped skipped(IdealMachine& machine) {
  const SmStatistics& s = machine.statistics();
  return {s.skipped_cycles.value(), s.skips.value()};
}

TEST(Skipping, IdleSmSkipsEverythingOnce) {
  IdealMachine machine(kernel_of(""), {});
  machine.run_to(1001);
  EXPECT_EQ(skipped(machine), (Skipped{1000, 1}));
  machine.run_to(2501);
  EXPECT_EQ(skipped(machine), (Skipped{2500, 1}));
}

/// A load whose page comes when it is replayed at `replay`; what was skipped until cycle 10000.
Skipped waiting_for_a_page(std::int64_t replay, std::int64_t look_every) {
  IdealMachine::Options options;
  options.knows_pages = false;
  IdealMachine machine(kernel_of("ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd1], %r1;\n"),
                       options);
  const std::uint64_t page = IdealMachine::page_of(0);
  machine.pages[page].status = TranslationStatus::refused;
  machine.launch("k", {1, 1, 1}, {1, 1, 1}, {machine.address(0), machine.address(4096), 7});
  machine.run_to(replay);
  machine.pages[page] = {TranslationStatus::found, PageTableEntry::of(0, PageTableEntry::present)};
  machine.post(0, replay, MessageKind::replay, PageNotice{page, 0, 0, 0});
  for (std::int64_t end = replay; end < 10'000; end += look_every) {
    machine.run_to(end);
    skipped(machine);
  }
  machine.run_to(10'000);
  return skipped(machine);
}

TEST(Skipping, LongerWaitIsNoMoreSkips) {
  const Skipped all = waiting_for_a_page(2000, 10'000), later = waiting_for_a_page(3000, 10'000);
  EXPECT_EQ(later, all) << "it is idle before or afterwards";
  EXPECT_GT(all.cycles, 9'900u);
  EXPECT_LT(all.skips, 30u);
}

TEST(Skipping, LookingMoreOftenChangesNothing) {
  EXPECT_EQ(waiting_for_a_page(2000, 7), waiting_for_a_page(2000, 10'000));
}

}  // namespace
}  // namespace lockstep::skipping_test
