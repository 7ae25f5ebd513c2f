/// Which line leaves a full set, by each replacement policy: one set of four ways, lookups that are
/// far enough apart not to meet.
#include <gtest/gtest.h>

#include <array>

#include "models/noc/l2_priority_mark.hpp"
#include "tests/harness/policy_variants.hpp"
#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::replacement_test {
namespace {

using isa::L2Priority;

/// Two sets of four ways in one bank; `text`: what a scenario says under `policies.replacement`.
class Sets {
 public:
  explicit Sets(const std::string& text, std::unique_ptr<CachePolicy> cache_policy = nullptr)
      : bench_(parameters(), 2,
               {std::move(cache_policy), nullptr,
                make_replacement(
                    policy_setup(policy_written<replacement_policies>(text), parameters()))}) {}

  /// Loads the `number`-th line of set 0; returns whether it was there.
  bool hits(std::uint32_t number, L2Priority priority = L2Priority::unchanged) {
    MemoryRequest request =
        PartitionBench::request(MemoryOperation::load, lines()[number] * line_bytes, 1, ++tag_);
    mark_priority(request, priority);
    bench_.send(bench_.reached() + 1000, request);
    bench_.run();
    return bench_.answer(tag_).response.l2_hits != 0;
  }
  void load(std::initializer_list<std::uint32_t> numbers,
            L2Priority priority = L2Priority::unchanged) {
    for (const std::uint32_t number : numbers) hits(number, priority);
  }
  PartitionBench& bench() { return bench_; }

  static MemoryParameters parameters() {
    MemoryParameters p = small_memory();
    p.capacity = Bytes{std::uint64_t{1} << 22};
    return p;
  }

 private:
  static const std::vector<std::uint64_t>& lines() {
    static const std::vector<std::uint64_t> found = [] {
      const L2Bank probe(parameters().l2, 0, 1);
      std::vector<std::uint64_t> of_set;
      for (std::uint32_t line = 0; of_set.size() < 1000; ++line)
        if (probe.tags().set_begin(line) == 0) of_set.push_back(line);
      return of_set;
    }();
    return found;
  }

  PartitionBench bench_;
  std::uint32_t tag_ = 0;
};

TEST(LruReplacement, TheLineUsedLongestAgoGoes) {
  Sets set("lru");
  set.load({0, 1, 2, 3, 0, 4});  // 4 over 1
  EXPECT_TRUE(set.hits(0));
  EXPECT_TRUE(set.hits(2));
  EXPECT_FALSE(set.hits(1));
}

TEST(SrripReplacement, AScanDoesNotPushOutALineThatWasUsedAgain) {
  Sets lru("lru"), srrip("srrip");
  for (Sets* set : {&lru, &srrip}) set->load({0, 0, 1, 2, 3, 4, 5, 6});
  EXPECT_FALSE(lru.hits(0));
  EXPECT_TRUE(srrip.hits(0));
}

/// Intervals of two bits: used lines 0, new ones 2, who goes 3 (Jaleel et al. 2010, Figure 4).
TEST(SrripReplacement, LinesGrowOlderTogetherUntilOneIsDistant) {
  Sets set("{name: srrip, bits: 2}");
  set.load({0, 1, 2, 3});     // 2 2 2 2
  set.load({0, 1});           // 0 0 2 2
  set.load({4});              // 1 1 3 3, then 4 over 2: 1 1 2 3
  EXPECT_TRUE(set.hits(0));   // 0 1 2 3
  EXPECT_TRUE(set.hits(1));   // 0 0 2 3
  EXPECT_FALSE(set.hits(2));  // over 3: 0 0 2 2
  EXPECT_TRUE(set.hits(4));
  EXPECT_FALSE(set.hits(3));  // over 2, since 4 is in use
  EXPECT_TRUE(set.hits(4));
}

TEST(HintsReplacement, WithoutHintsTheLineUsedLongestAgoGoes) {
  Sets set("hints");
  set.load({0, 1, 2, 3, 0, 4});  // 4 over 1
  EXPECT_TRUE(set.hits(0));
  EXPECT_TRUE(set.hits(2));
  EXPECT_FALSE(set.hits(1));
}

TEST(HintsReplacement, EvictFirstLinesGoBeforeOthersAndEvictLastLinesAfterThem) {
  Sets set("hints");
  set.load({0}, L2Priority::last);
  set.load({1, 2});
  set.load({3}, L2Priority::first);
  set.load({4});  // over 3, though 0, 1 and 2 were used longer ago
  EXPECT_TRUE(set.hits(0));
  EXPECT_TRUE(set.hits(2));
  set.load({5});  // over 1, the oldest normal one
  EXPECT_TRUE(set.hits(2));
  EXPECT_TRUE(set.hits(4));
  set.load({6, 7, 8, 9});
  EXPECT_TRUE(set.hits(0)) << "stays for all normal lines";
  EXPECT_FALSE(set.hits(1));
}

TEST(HintsReplacement, OfSeveralWithEvictFirstTheOldestGoes) {
  Sets set("hints");
  set.load({0});
  set.load({1, 2, 3}, L2Priority::first);
  set.load({1, 4});  // 4 over 2: a use without a hint leaves 1 its priority, but makes it young
  EXPECT_TRUE(set.hits(0));
  EXPECT_TRUE(set.hits(1));
  EXPECT_TRUE(set.hits(3));
  EXPECT_FALSE(set.hits(2));
}

TEST(HintsReplacement, AUseWithAHintGivesALineThatPriority) {
  Sets set("hints");
  set.load({0, 1}, L2Priority::last);
  set.load({0}, L2Priority::normal);
  set.load({2, 3, 1, 4});  // 4 over 0, normal again and the oldest of those
  EXPECT_TRUE(set.hits(1));
  EXPECT_FALSE(set.hits(0));
  Sets streamed("hints");
  streamed.load({0, 1, 2, 3});
  streamed.load({3}, L2Priority::first);
  streamed.load({4});  // over 3, the youngest
  EXPECT_TRUE(streamed.hits(0));
  EXPECT_FALSE(streamed.hits(3));
}

TEST(HintsReplacement, EvictLastLinesKeepThePartThatIsSetAside) {
  Sets half("{name: hints, set_aside: 50}"), none("{name: hints, set_aside: 0}");
  for (Sets* set : {&half, &none}) {
    set->load({0, 1, 2}, L2Priority::last);
    set->load({3, 4, 5, 6});
  }
  EXPECT_FALSE(half.hits(0)) << "the oldest of three counts as a normal one";
  EXPECT_TRUE(half.hits(1));
  EXPECT_TRUE(half.hits(2));
  EXPECT_FALSE(none.hits(2));
  Sets full("{name: hints, set_aside: 100}");
  full.load({0, 1, 2, 3}, L2Priority::last);
  full.load({4});  // over 0: all shall stay, and one has to go
  EXPECT_FALSE(full.hits(0));
}

TEST(HintsReplacement, ACheckpointKeepsPriorities) {
  Sets before("hints"), after("hints");
  before.load({0}, L2Priority::last);
  before.load({1, 2});
  before.load({3}, L2Priority::first);
  after.bench().restore(before.bench().save());
  for (Sets* set : {&before, &after}) {
    set->load({4, 5, 6, 7, 8});
    EXPECT_TRUE(set->hits(0));
    EXPECT_FALSE(set->hits(3));
  }
}

/// Four sets: 0 leads by the static rule, 2 by the bimodal one, 1 and 3 follow who misses less.
class FourSets {
 public:
  explicit FourSets(const std::string& text)
      : bench_(Sets::parameters(), 2,
               {nullptr, nullptr,
                make_replacement(policy_setup(policy_written<replacement_policies>(text),
                                              Sets::parameters()))}) {}

  /// Loads the `number`-th line of a set; counts whether it was there.
  void load(std::uint32_t set, std::uint32_t number) {
    bench_.load(bench_.reached() + 1000, lines(set)[number] * line_bytes, 1, ++tag_);
    bench_.run();
    hits_[set] += bench_.answer(tag_).response.l2_hits != 0;
  }
  unsigned hits(std::uint32_t set) const { return hits_[set]; }

 private:
  static const std::vector<std::uint64_t>& lines(std::uint32_t set) {
    static const auto found = [] {
      const L2Bank probe(Sets::parameters().l2, 0, 1);
      std::array<std::vector<std::uint64_t>, 4> of_sets;
      for (std::uint32_t line = 0; line < 400; ++line)
        of_sets[L2Tags::set_number(probe.tags().set_begin(line))].push_back(line);
      return of_sets;
    }();
    return found[set];
  }

  PartitionBench bench_;
  std::uint32_t tag_ = 0;
  std::array<unsigned, 4> hits_{};
};

/// A loop over six lines of each set, two more than a set holds, and a part of them used twice.
TEST(DrripReplacement, SetsThatDoNotLeadFollowTheRuleThatMissesLess) {
  FourSets drrip("drrip"), srrip("srrip");
  for (FourSets* sets : {&drrip, &srrip})
    for (unsigned round = 0; round < 400; ++round)
      for (std::uint32_t line = 0; line < 6; ++line)
        for (std::uint32_t set = 0; set < 4; ++set) sets->load(set, line);
  // Such a loop never hits by the static rule; by the bimodal one three of four lines stay.
  EXPECT_EQ(srrip.hits(1), 0u);
  EXPECT_EQ(drrip.hits(0), 0u);
  EXPECT_GT(drrip.hits(2), 600u);
  EXPECT_GT(drrip.hits(1), 600u);
  EXPECT_GT(drrip.hits(3), 600u);
}

TEST(DrripReplacement, TheStaticRuleStaysWhereItMissesLess) {
  FourSets drrip("drrip");
  // Three lines at a time: the static rule lets those of before grow old, the bimodal one keeps
  // them.
  for (std::uint32_t phase = 0; phase < 30; ++phase)
    for (unsigned round = 0; round < 10; ++round)
      for (std::uint32_t line = 3 * phase; line < 3 * phase + 3; ++line)
        for (std::uint32_t set = 0; set < 4; ++set) drrip.load(set, line);
  EXPECT_GT(drrip.hits(0), drrip.hits(2) + 20);
  EXPECT_GT(drrip.hits(1), drrip.hits(2) + 20);
  EXPECT_GT(drrip.hits(3), drrip.hits(2) + 20);
}

TEST(RandomReplacement, EveryWayGoesAboutAsOften) {
  Sets set("random");
  unsigned hits = 0;
  for (unsigned round = 0; round < 300; ++round)
    for (std::uint32_t line = 0; line < 5; ++line) hits += set.hits(line);
  // A loop of five lines in four ways: between none (LRU) and four in five (the best that can be).
  EXPECT_GT(hits, 500u);
  EXPECT_LT(hits, 1200u);
}

TEST(RandomReplacement, TheSameSeedChoosesTheSameLines) {
  Sets first("random"), second("random");
  for (std::uint32_t step = 0; step < 300; ++step) {
    const std::uint32_t line = step * step % 7;
    ASSERT_EQ(first.hits(line), second.hits(line)) << step;
  }
}

/// Keeps odd lines from leaving.
class KeepsOddLines final : public CachePolicy {
 public:
  KeepsOddLines() : CachePolicy(restricts) {}
  std::uint64_t candidates(std::span<const CacheWay> ways) override {
    std::uint64_t even = 0;
    for (std::size_t way = 0; way < ways.size(); ++way)
      even |= std::uint64_t{ways[way].line % 2 == 0} << way;
    return even != 0 ? even : ~std::uint64_t{0};
  }
};

class RestrictedReplacement : public testing::TestWithParam<std::string> {};

TEST_P(RestrictedReplacement, OnlyLinesThatTheCachePolicyLetsGoLeave) {
  MemoryParameters p = small_memory();
  p.l2.size = Bytes{512};  // one set of four ways
  PartitionBench bench(
      p, 2,
      {std::make_unique<KeepsOddLines>(), nullptr,
       make_replacement(policy_setup(policy_named(replacement_policies(), GetParam()), p))});
  std::uint32_t tag = 0;
  const auto hits = [&](std::uint64_t line) {
    bench.load(bench.reached() + 1000, line * line_bytes, 1, ++tag);
    bench.run();
    return bench.answer(tag).response.l2_hits != 0;
  };
  for (const std::uint64_t line : {1, 3, 5}) EXPECT_FALSE(hits(line));
  for (std::uint64_t line = 0; line < 40; line += 2) EXPECT_FALSE(hits(line));
  for (const std::uint64_t line : {1, 3, 5}) EXPECT_TRUE(hits(line));
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, RestrictedReplacement, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const PolicyInfo& policy : replacement_policies())
                             names.push_back(policy.name);
                           return names;
                         }()),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::test::replacement_test
