#include "models/sm/front_end/event_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

/// Matrix units have no byte of the wheel: they come back by events that name their scheduler.
TEST(ExecutionUnits, EveryClassComesBackAfterItsInterval) {
  for (unsigned unit = 0; unit < unit_classes; ++unit) {
    SCOPED_TRACE(unit);
    SmParameters parameters = defaults<SmParameters>();
    parameters.units.counts.values.fill(parameters.schedulers);
    ExecutionUnits units(parameters);
    EventWheel wheel;
    units.occupy(unit, 2, SmCycle(1), 8, wheel);
    EXPECT_EQ(units.free(unit) & units.warps_of(1u << 2), 0u);
    EXPECT_NE(units.free(unit) & units.warps_of(1u << 1), 0u) << "another scheduler's";
    ASSERT_EQ(wheel.next(), SmCycle(9));
    wheel.take(
        SmCycle(9),
        [&](std::uint16_t event) {
          units.release(WarpEvent::place(event) - WarpEvent::unit_free,
                        static_cast<std::uint8_t>(1u << WarpEvent::warp(event)));
        },
        [&](const FreedUnits& freed) { units.release(freed); });
    EXPECT_EQ(units.free(unit), ~std::uint64_t{0});
  }
}

}  // namespace
}  // namespace lockstep::event_wheel_test
