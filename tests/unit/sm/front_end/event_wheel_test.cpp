#include "models/sm/front_end/event_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "models/sm/front_end/execution_units.hpp"

namespace lockstep::event_wheel_test {
namespace {

std::vector<std::uint16_t> events_at(EventWheel& wheel, SmCycle cycle) {
  std::vector<std::uint16_t> events;
  wheel.take(
      cycle, [&](std::uint16_t event) { events.push_back(event); }, [](const FreedUnits&) {});
  return events;
}

TEST(EventWheel, HandsOutACyclesEventsAsTheyWereAdded) {
  EventWheel wheel;
  for (const std::uint16_t event : {7, 3, 9, 3}) wheel.add(SmCycle(5), event);
  wheel.add(SmCycle(4), 1);
  EXPECT_EQ(wheel.next(), SmCycle(4));
  EXPECT_EQ(events_at(wheel, SmCycle(4)), std::vector<std::uint16_t>{1});
  EXPECT_EQ(events_at(wheel, SmCycle(5)), (std::vector<std::uint16_t>{7, 3, 9, 3}));
  EXPECT_EQ(wheel.next(), no_cycle);
}

TEST(EventWheel, AnEventMayAddOthers) {
  EventWheel wheel;
  for (std::uint16_t i = 0; i < 60; ++i) wheel.add(SmCycle(1), i);
  wheel.take(
      SmCycle(1), [&](std::uint16_t event) { wheel.add(SmCycle(2 + event % 2), event); },
      [](const FreedUnits&) {});
  EXPECT_EQ(events_at(wheel, SmCycle(2)).size(), 30u);
  EXPECT_EQ(events_at(wheel, SmCycle(3)).size(), 30u);
}

/// Also more at once than the lists have places for, and farther away than they reach.
TEST(EventWheel, LosesNothing) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    EventWheel wheel;
    std::multimap<SmCycle, std::uint16_t> expected;
    SmCycle now;
    for (int step = 0; step < 3000; ++step) {
      const unsigned reach = random() % 10 == 0 ? 300 : 40;
      for (unsigned added = random() % 8; added > 0; --added) {
        const SmCycle cycle = now + 1 + random() % reach;
        const auto event = static_cast<std::uint16_t>(random());
        wheel.add(cycle, event);
        expected.emplace(cycle, event);
      }
      if (expected.empty()) continue;
      ASSERT_EQ(wheel.next(), expected.begin()->first) << "seed " << seed << " step " << step;
      now = wheel.next();
      std::vector<std::uint16_t> given = events_at(wheel, now), due;
      const auto [first, last] = expected.equal_range(now);
      for (auto it = first; it != last; ++it) due.push_back(it->second);
      expected.erase(first, last);
      std::sort(given.begin(), given.end());
      std::sort(due.begin(), due.end());
      ASSERT_EQ(given, due) << "seed " << seed << " step " << step;
    }
  }
}

class Units {
 public:
  explicit Units(unsigned issue_width = 1) {
    SmParameters parameters = defaults<SmParameters>();
    parameters.units.counts.values.fill(parameters.schedulers);
    parameters.issue_width = issue_width;
    units_ = ExecutionUnits(parameters);
  }

  void begin(SmCycle now) {
    units_.begin_cycle(now_, now);
    now_ = now;
    wheel_.take(
        now,
        [&](std::uint16_t event) {
          units_.release(WarpEvent::place(event) - WarpEvent::unit_free,
                         static_cast<std::uint8_t>(1u << WarpEvent::warp(event)));
        },
        [&](const FreedUnits& freed) { units_.release(freed); });
  }
  void occupy(unsigned unit, unsigned scheduler, unsigned interval) {
    units_.occupy(unit, scheduler, now_, interval, wheel_);
  }
  /// Returns the next cycle in which this unit of the scheduler may be free.
  SmCycle next_use(unsigned unit, unsigned scheduler) const {
    return std::min(units_.next_use(wanted(unit, units_.warps_of(1u << scheduler)), now_),
                    wheel_.next());
  }
  /// Returns the schedulers that could use a unit of the class now.
  unsigned free(unsigned unit) const {
    return units_.schedulers_of(units_.could_use(wanted(unit, ~std::uint64_t{0}), now_));
  }
  unsigned all() const { return units_.all_schedulers(); }

 private:
  static std::array<std::uint64_t, unit_classes> wanted(unsigned unit, std::uint64_t warps) {
    std::array<std::uint64_t, unit_classes> ready{};
    ready[unit] = warps;
    return ready;
  }

  ExecutionUnits units_;
  EventWheel wheel_;
  SmCycle now_{-1};
};

/// Short intervals stand in the ring of cycles, longer ones in the wheel.
TEST(ExecutionUnits, EveryClassComesBackAfterItsInterval) {
  for (unsigned unit = 0; unit < unit_classes; ++unit)
    for (const unsigned interval : {2u, 8u, 15u, 16u, 40u}) {
      SCOPED_TRACE(testing::Message() << "class " << unit << ", interval " << interval);
      Units units;
      units.begin(SmCycle(1));
      units.occupy(unit, 2, interval);
      for (unsigned cycle = 2; cycle < 1 + interval; ++cycle) {
        units.begin(SmCycle(cycle));
        EXPECT_EQ(units.free(unit), units.all() & ~(1u << 2));
        EXPECT_EQ(units.free((unit + 1) % unit_classes), units.all()) << "another class";
        EXPECT_EQ(units.next_use(unit, 2), SmCycle(1 + interval));
      }
      units.begin(SmCycle(1 + interval));
      EXPECT_EQ(units.free(unit), units.all());
    }
}

TEST(ExecutionUnits, CyclesThatAreSkippedLeaveNothingBusy) {
  for (const unsigned skipped : {1u, 3u, 14u, 15u, 16u, 17u, 100u}) {
    Units units;
    units.begin(SmCycle(5));
    units.occupy(1, 0, 15);
    const unsigned now = 5 + skipped;
    units.begin(SmCycle(now));
    EXPECT_EQ(units.free(1), skipped < 15 ? units.all() & ~1u : units.all()) << skipped;
    for (unsigned later = std::max(now + 1, 20u); later < now + 40; ++later) {
      units.begin(SmCycle(later));
      EXPECT_EQ(units.free(1), units.all()) << skipped << " " << later;
    }
  }
}

/// A scheduler that issues twice in a cycle does not use a unit twice.
TEST(ExecutionUnits, AUnitIsBusyInTheCycleOfTheIssueIfItsSchedulerIsWide) {
  Units units(2);
  units.begin(SmCycle(3));
  units.occupy(1, 1, 1);
  EXPECT_EQ(units.free(1), units.all() & ~(1u << 1));
  EXPECT_EQ(units.next_use(1, 1), SmCycle(4));
  units.begin(SmCycle(4));
  EXPECT_EQ(units.free(1), units.all());
}

}  // namespace
}  // namespace lockstep::event_wheel_test
