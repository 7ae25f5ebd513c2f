#include "core/exec/rank_facts.hpp"

#include <gtest/gtest.h>

#include "core/exec/loopback_ranks.hpp"

namespace lockstep::rank_facts_test {
namespace {

using Facts = std::vector<RankFact>;

/// What rank 0 is told when rank r has `facts[r]`; "alike" if there is no difference.
std::string told(const std::vector<Facts>& facts) {
  std::string line;
  LoopbackRanks(static_cast<int>(facts.size())).run([&](Communicator& ranks) {
    const auto difference = first_difference(facts[static_cast<std::size_t>(ranks.rank())], ranks);
    if (ranks.rank() == 0) {
      line = difference.value_or("alike");
    } else {
      EXPECT_EQ(difference.value_or("alike"),
                facts[0] == facts[1] && facts[0] == facts[2] ? "alike" : "");
    }
  });
  return line;
}

const Facts usual{{"gpu.sm.count", "8"}, {"simulation.seed", "1"}};

TEST(RankFacts, EqualOnesAreAlike) {
  EXPECT_EQ(told({usual, usual, usual}), "alike");
  EXPECT_EQ(told({{}, {}, {}}), "alike");
}

TEST(RankFacts, TheFirstThatDiffersIsNamedWithItsRankAndBothValues) {
  const Facts other{{"gpu.sm.count", "16"}, {"simulation.seed", "2"}};
  EXPECT_EQ(told({usual, usual, other}), "rank 2 has 16 as gpu.sm.count, rank 0 has 8");
  EXPECT_EQ(told({usual, other, other}), "rank 1 has 16 as gpu.sm.count, rank 0 has 8");
}

TEST(RankFacts, WhatOnlyOneRankHasIsNamed) {
  const Facts more{{"gpu.sm.count", "8"}, {"gpu.sm.warps", "4"}, {"simulation.seed", "1"}};
  EXPECT_EQ(told({usual, more, usual}), "rank 1 has gpu.sm.warps, rank 0 has not");
  EXPECT_EQ(told({more, usual, more}), "rank 0 has gpu.sm.warps, rank 1 has not");
  EXPECT_EQ(told({usual, usual, {}}), "rank 0 has gpu.sm.count, rank 2 has not");
  EXPECT_EQ(told({{}, {}, usual}), "rank 2 has gpu.sm.count, rank 0 has not");
}

}  // namespace
}  // namespace lockstep::rank_facts_test
