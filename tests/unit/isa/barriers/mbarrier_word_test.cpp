/// The word of an mbarrier against a model that counts arrivals one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "models/isa/barriers/mbarrier.hpp"

namespace lockstep::isa::mbarrier_word_test {
namespace {

constexpr std::uint64_t start(std::uint64_t count) {
  return MbarrierWord::of(count, count, 0);
}

/// Who is expected, who has come, and which phase it is.
struct Model {
  std::uint64_t expected = 0, left = 0;
  unsigned phase = 0;

  void arrive(std::uint64_t count, bool drops) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (drops) --expected;
      --left;
    }
    if (left != 0) return;
    ++phase;
    left = expected;
  }
};

TEST(MbarrierWord, FollowsAModelThroughRandomCountsAndOrders) {
  std::mt19937_64 random(1);
  for (unsigned run = 0; run < 2000; ++run) {
    const std::uint64_t count = 1 + random() % (run % 4 == 0 ? MbarrierWord::most : 40);
    Model model{count, count};
    std::uint64_t word = mbarrier_step(AtomicOperation::mbarrier_init, random(), count);
    std::uint64_t behind_copies = 0;  // arrivals that have joined and are to come
    for (unsigned step = 0; step < 60 && model.left > 0; ++step) {
      ASSERT_TRUE(MbarrierWord::is_object(word));
      ASSERT_EQ(MbarrierWord::pending(word), model.left + behind_copies);
      ASSERT_EQ(MbarrierWord::expected(word), model.expected);
      ASSERT_EQ(MbarrierWord::parity(word), model.phase % 2);
      ASSERT_EQ(MbarrierWord::is_complete(word, model.phase % 2), false);
      ASSERT_EQ(MbarrierWord::is_complete(word, model.phase % 2 ^ 1), true);
      if (behind_copies > 0 && random() % 3 == 0) {
        word = mbarrier_step(AtomicOperation::arrive, word, 1);
        --behind_copies;
        continue;
      }
      if (random() % 5 == 0 && model.left + behind_copies < MbarrierWord::most) {
        word = mbarrier_step(AtomicOperation::join_behind_copies, word, 1);
        ++behind_copies;
        continue;
      }
      // The last one that is expected comes when nobody is owed.
      const std::uint64_t most = behind_copies > 0 ? model.left - 1 : model.left;
      if (most == 0) continue;
      const std::uint64_t arrivals = 1 + random() % most;
      const bool drops = random() % 4 == 0 && arrivals < model.expected;
      const auto operation = drops ? AtomicOperation::arrive_drop : AtomicOperation::arrive;
      ASSERT_FALSE(mbarrier_mistake(operation, word, arrivals, 0));
      word = mbarrier_step(operation, word, arrivals);
      model.arrive(arrivals, drops);
    }
  }
}

TEST(MbarrierWord, APhaseEndsWithTheLastArrivalOrTheLastByteInWhateverOrderTheyCome) {
  using Step = std::pair<AtomicOperation, std::uint64_t>;
  constexpr auto arrive = AtomicOperation::arrive;
  constexpr auto arrive_and_expect = AtomicOperation::arrive_and_expect;
  constexpr auto complete = AtomicOperation::complete_transactions;
  std::mt19937_64 random(2);
  for (unsigned run = 0; run < 4000; ++run) {
    const std::uint64_t count = 1 + random() % 8;
    std::vector<Step> steps, completions;
    for (std::uint64_t a = 0; a < count; ++a) {
      const std::uint64_t bytes = 2 + random() % 5000, first = 1 + random() % (bytes - 1);
      const bool at_once = random() % 2 == 0;
      steps.emplace_back(at_once ? arrive_and_expect : arrive, at_once ? bytes : 1);
      if (!at_once) steps.emplace_back(AtomicOperation::expect_transactions, bytes);
      completions.emplace_back(complete, first);
      completions.emplace_back(complete, bytes - first);
    }
    std::ranges::shuffle(steps, random);
    std::ranges::shuffle(completions, random);
    const bool ends_with_bytes = run % 2 == 0;
    // Something is missing until the end: a byte, or an arrival.
    if (ends_with_bytes) {
      steps.emplace(steps.begin(), AtomicOperation::expect_transactions, 1);
      completions.emplace_back(complete, 1);
    } else {
      steps.emplace_back(arrive, 1);
    }
    steps.insert(ends_with_bytes ? steps.end() : steps.begin(), completions.begin(),
                 completions.end());
    const std::uint64_t arrivals = count + (ends_with_bytes ? 0 : 1);
    if (!ends_with_bytes) std::shuffle(steps.begin(), steps.end() - 1, random);
    std::uint64_t word = start(arrivals), left = arrivals;
    std::int64_t bytes = 0;
    for (const auto& [operation, n] : steps) {
      ASSERT_EQ(word, MbarrierWord::of(arrivals, left, 0, bytes));
      ASSERT_FALSE(mbarrier_mistake(operation, word, n, 0));
      word = mbarrier_step(operation, word, n);
      if (operation == arrive || operation == arrive_and_expect) --left;
      if (operation == complete) bytes -= static_cast<std::int64_t>(n);
      if (operation != complete && operation != arrive) bytes += static_cast<std::int64_t>(n);
    }
    ASSERT_EQ(word, MbarrierWord::of(arrivals, arrivals, 1));
  }
}

TEST(MbarrierWord, CountsBytesUpToTwentyBitsEitherWay) {
  constexpr auto expect = AtomicOperation::expect_transactions;
  constexpr auto complete = AtomicOperation::complete_transactions;
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{4096}, MbarrierWord::most}) {
    const std::uint64_t ahead = mbarrier_step(complete, start(3), bytes);
    EXPECT_EQ(MbarrierWord::transactions(ahead), -static_cast<std::int64_t>(bytes));
    EXPECT_EQ(mbarrier_step(expect, ahead, bytes), start(3));
    const std::uint64_t owed = mbarrier_step(expect, start(3), bytes);
    EXPECT_EQ(MbarrierWord::transactions(owed), static_cast<std::int64_t>(bytes));
    EXPECT_TRUE(MbarrierWord::is_object(owed));
    EXPECT_EQ(MbarrierWord::expected(owed), 3u);
    EXPECT_EQ(mbarrier_step(complete, owed, bytes), start(3));
  }
  const std::uint64_t full = mbarrier_step(expect, start(3), MbarrierWord::most);
  EXPECT_TRUE(mbarrier_mistake(expect, full, 1, 0));
  EXPECT_TRUE(mbarrier_mistake(expect, start(3), MbarrierWord::most + 1, 0));
  EXPECT_FALSE(mbarrier_mistake(complete, full, MbarrierWord::most, 0));
  EXPECT_TRUE(mbarrier_mistake(AtomicOperation::arrive_and_expect, full, 1, 0));
}

TEST(MbarrierWord, WhoDropsOutIsNotWaitedForAgain) {
  const std::uint64_t word = mbarrier_step(AtomicOperation::arrive_drop, start(4), 1);
  EXPECT_EQ(word, MbarrierWord::of(3, 3, 0));
  EXPECT_EQ(mbarrier_step(AtomicOperation::arrive, word, 3), MbarrierWord::of(3, 3, 1));
}

TEST(MbarrierWord, MoreArrivalsThanItWaitsForAreAMistake) {
  for (const auto operation : {AtomicOperation::arrive, AtomicOperation::arrive_drop}) {
    EXPECT_FALSE(mbarrier_mistake(operation, start(4), 4, 0));
    EXPECT_TRUE(mbarrier_mistake(operation, start(4), 5, 0));
    EXPECT_TRUE(mbarrier_mistake(operation, start(4), 0, 0));
    EXPECT_TRUE(mbarrier_mistake(operation, start(MbarrierWord::most), 1 << 20, 0));
  }
  EXPECT_TRUE(mbarrier_mistake(AtomicOperation::arrive_incomplete, start(4), 4, 0));
  EXPECT_FALSE(mbarrier_mistake(AtomicOperation::arrive_incomplete, start(4), 3, 0));
  const std::uint64_t all_have_left = mbarrier_step(AtomicOperation::arrive_drop, start(2), 2);
  EXPECT_TRUE(MbarrierWord::is_complete(all_have_left, 0));
  EXPECT_TRUE(mbarrier_mistake(AtomicOperation::arrive, all_have_left, 1, 0));
}

TEST(MbarrierWord, WhatIsNoObjectIsNotToBeUsed) {
  for (const auto operation : {AtomicOperation::arrive, AtomicOperation::mbarrier_inval,
                               AtomicOperation::arrive_behind_copies})
    EXPECT_TRUE(mbarrier_mistake(operation, 0, 1, 0));
  EXPECT_TRUE(wait_mistake(mbarrier_step(AtomicOperation::mbarrier_inval, start(4), 1), 0));
  EXPECT_FALSE(mbarrier_mistake(AtomicOperation::mbarrier_init, 0, 1, 0));
  EXPECT_TRUE(mbarrier_mistake(AtomicOperation::mbarrier_init, 0, 1 << 20, 0));
}

}  // namespace
}  // namespace lockstep::isa::mbarrier_word_test
