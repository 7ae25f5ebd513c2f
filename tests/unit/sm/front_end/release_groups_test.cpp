#include "models/sm/front_end/release_groups.hpp"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::release_groups_test {
namespace {

Scoreboard places(std::initializer_list<std::uint16_t> events) {
  Scoreboard result;
  for (const std::uint16_t event : events) result.mark(event);
  return result;
}

TEST(ReleaseGroups, GiveBackWhatCommitsWithTheEvent) {
  ReleaseGroups groups;
  const Scoreboard a = places({1, 70, 255}), b = places({2, Scoreboard::first_predicate + 3});
  const auto of_a = groups.begin(a), of_b = groups.begin(b);
  ASSERT_TRUE(of_a && of_b);
  EXPECT_NE(*of_a, *of_b);
  EXPECT_FALSE(WarpEvent::is_commit(*of_a)) << "it is no place of the scoreboard";
  EXPECT_EQ(groups.end(*of_b), b);
  EXPECT_EQ(groups.end(*of_a), a);
}

TEST(ReleaseGroups, UsePlacesAgain) {
  ReleaseGroups groups;
  const auto first = groups.begin(places({1}));
  groups.end(*first);
  EXPECT_EQ(groups.begin(places({2})), first);
}

TEST(ReleaseGroups, RunOutOfEventsAtLast) {
  ReleaseGroups groups;
  std::set<std::uint16_t> events;
  for (unsigned i = 0; i < WarpEvent::groups; ++i) events.insert(groups.begin(places({7})).value());
  EXPECT_EQ(events.size(), WarpEvent::groups);
  EXPECT_LE(*events.rbegin(), 511) << "nine bits";
  EXPECT_FALSE(groups.begin(places({7})).has_value());
}

TEST(ReleaseGroups, GoThroughACheckpoint) {
  ReleaseGroups groups, restored;
  groups.begin(places({9}));
  const auto event = groups.begin(places({3, 4}));
  std::stringstream bytes;
  Archive out = Archive::saving(bytes);
  groups.serialize(out);
  Archive in = Archive::restoring(bytes);
  restored.serialize(in);
  EXPECT_EQ(restored.end(*event), places({3, 4}));
}

TEST(ForEachPlace, NamesEveryRowAndPredicate) {
  std::set<std::uint16_t> named;
  for_each_place(places({0, 63, 64, 255, Scoreboard::first_predicate + 63}),
                 [&](std::uint16_t event) { named.insert(event); });
  EXPECT_EQ(named, (std::set<std::uint16_t>{0, 63, 64, 255, 319}));
}

}  // namespace
}  // namespace lockstep::release_groups_test
