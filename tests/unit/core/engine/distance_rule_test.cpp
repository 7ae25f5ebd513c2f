/// Random machines end in the same state however they are run: the reference looks at no distance
/// and advances one instant at a time.  A message that arrives late would be an error by itself.
#include <gtest/gtest.h>

#include "core/engine/distance.hpp"
#include "tests/unit/core/engine/layouts.hpp"
#include "tests/unit/core/engine/random_machine.hpp"

namespace lockstep::distance_rule_test {
namespace {

std::uint64_t digest(const Component& component) {
  return static_cast<const test::Wanderer&>(component).digest();
}

void expect_same_in_every_way(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed, ComponentId{0}, 3);
  const Graph graph = test::random_graph(random);
  const ComponentFactory factory = [&](ComponentId id) {
    return std::make_unique<test::Wanderer>(graph, id, seed);
  };
  EngineOptions options;
  options.epoch = Time{1 + static_cast<std::int64_t>(random.below(20000))};
  options.stop_at = Time{1 + static_cast<std::int64_t>(random.below(60000))};

  options.pacing = Pacing::one_activity;
  const test::Outcome reference = test::run_layout(graph, factory, 1, options, digest);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const int ranks = 1 + static_cast<int>(random.below(4));
    options.threads = 1 + static_cast<int>(random.below(3));
    static constexpr Pacing pacings[] = {Pacing::horizons, Pacing::random_cuts,
                                         Pacing::shortest_link};
    options.pacing = pacings[random.below(std::size(pacings))];
    options.shuffle = random.below(2) == 0;
    options.test_seed = random.next_uint64();
    SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(options.threads) + " threads");
    const Assignment assignment = test::random_assignment(random, graph, ranks, options.threads);
    EXPECT_EQ(reference, test::run_layout(graph, factory, ranks, options, digest, &assignment));
  }
}

TEST(DistanceRule, RandomMachinesEndAsTheReferenceDoes) {
  for (std::uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) {
    ASSERT_NO_THROW(expect_same_in_every_way(seed)) << "seed " << seed;
  }
}

class SmallMachine : public ::testing::Test {
 protected:
  SmallMachine() {
    const KindId sm = graph_.add_kind("sm");
    const KindId partition = graph_.add_kind("partition");
    const KindId host = graph_.add_kind("host");
    for (ComponentId& id : sm_) id = graph_.add_component(sm);
    partition_ = graph_.add_component(partition);
    host_ = graph_.add_component(host);
    for (const ComponentId id : sm_) {
      graph_.connect(id, partition_, Time{140});
      graph_.connect(partition_, id, Time{20});
      graph_.connect(host_, id, Time{1000});
      graph_.connect(id, host_, Time{900});
    }
    together_.places.resize(4);
  }
  Graph graph_;
  ComponentId sm_[2], partition_, host_;
  Assignment together_;
};

TEST_F(SmallMachine, DistancesAreShortestPathsByKind) {
  const Distances inside = distances_inside(graph_, together_, 0);
  EXPECT_EQ(inside.between(0, 1), Time{140});
  EXPECT_EQ(inside.between(1, 0), Time{20});
  EXPECT_EQ(inside.between(1, 2), Time{920});
  EXPECT_EQ(inside.between(2, 1), Time{1140});
}

TEST_F(SmallMachine, ADistanceToTheOwnKindIsTheShortestCycle) {
  const Distances inside = distances_inside(graph_, together_, 0);
  EXPECT_EQ(inside.between(0, 0), Time{160});
  EXPECT_EQ(inside.between(1, 1), Time{160});
  EXPECT_EQ(inside.between(2, 2), Time{1900});
}

TEST_F(SmallMachine, ARankBoundaryThroughLongLinksIsFarAway) {
  Assignment host_apart = together_;
  host_apart.places[host_.value()].rank = 1;
  const Distances across = distances_across(graph_, host_apart);
  EXPECT_EQ(across.between(0, 0), Time{1900});
  EXPECT_EQ(across.between(0, 2), Time{900});
  EXPECT_EQ(across.between(0, 1), Time{2040});
  EXPECT_EQ(distances_inside(graph_, host_apart, 0).between(0, 2), Time::never());
}

TEST_F(SmallMachine, TheLimitingCycleIsNamed) {
  EXPECT_EQ(limiting_cycle(graph_, {}), "sm -> partition -> sm: 160 fs");
  const std::vector<std::string> except{"sm", "partition"};
  EXPECT_EQ(limiting_cycle(graph_, except), "host -> sm -> host: 1.900 ps");
}

}  // namespace
}  // namespace lockstep::distance_rule_test
