/// What every registered prefetcher must keep, whatever is there and whatever faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/driver/prefetch/prefetch_bench.hpp"

namespace lockstep::test::prefetcher_contract_test {
namespace {

/// Random pages of one allocation in random places, some of which fault.
struct Situation {
  explicit Situation(std::mt19937_64& random) : places(1 + random() % 1300) {
    for (std::uint64_t page = 0; page < places.size(); ++page) {
      places[page] = random() % 3 == 0 ? PagePlace::host : static_cast<PagePlace>(random() % 4);
      const bool valid = places[page] == PagePlace::gpu || places[page] == PagePlace::arriving;
      if (!valid && random() % 50 == 0) faults.push_back(page);
    }
  }
  std::vector<PageRange> meet(PrefetchBench& bench) const {
    for (std::uint64_t page = 0; page < places.size(); ++page) bench.set(page, 1, places[page]);
    return bench.fault(faults);
  }
  std::uint64_t kib() const { return places.size() * 4; }

  std::vector<PagePlace> places;
  std::vector<std::uint64_t> faults;
};

class PrefetcherContract : public testing::TestWithParam<std::string> {
 protected:
  std::mt19937_64 random_{7};
};

TEST_P(PrefetcherContract, MovesAscendAndHoldTheFaultsButNoValidPage) {
  for (int round = 0; round < 300; ++round) {
    const Situation situation(random_);
    PrefetchBench bench(GetParam(), situation.kib());
    std::uint64_t end = 0, held = 0;
    for (const PageRange& range : situation.meet(bench)) {
      ASSERT_GT(range.count, 0u);
      const std::uint64_t first = range.first.value();
      ASSERT_TRUE(first > end || (first == 0 && end == 0)) << "round " << round;
      end = first + range.count;
      ASSERT_LE(end, situation.places.size());
      for (std::uint64_t page = first; page < end; ++page) {
        const bool fault =
            std::binary_search(situation.faults.begin(), situation.faults.end(), page);
        ASSERT_TRUE(fault || situation.places[page] == PagePlace::host);
        held += fault;
      }
    }
    ASSERT_EQ(held, situation.faults.size());
  }
}

/// A prefetcher is not saved with a checkpoint: what it has chosen before must not matter.
TEST_P(PrefetcherContract, ChoosesTheSameWhateverItChoseBefore) {
  for (int round = 0; round < 100; ++round) {
    const Situation before(random_), situation(random_);
    PrefetchBench used(GetParam(), std::max(before.kib(), situation.kib()));
    before.meet(used);
    PrefetchBench fresh(GetParam(), std::max(before.kib(), situation.kib()));
    fresh.set_number(used.number());
    for (PrefetchBench* bench : {&used, &fresh})
      bench->set(0, bench->allocation().pages, PagePlace::host);
    ASSERT_EQ(situation.meet(used), situation.meet(fresh)) << "round " << round;
  }
}

TEST_P(PrefetcherContract, ChoosesTheSameWhereverItsObjectsLie) {
  for (int round = 0; round < 50; ++round) {
    const Situation situation(random_);
    PrefetchBench one(GetParam(), situation.kib());
    const auto between = std::make_unique<char[]>(1 + random_() % 100'000);
    PrefetchBench other(GetParam(), situation.kib());
    ASSERT_EQ(situation.meet(one), situation.meet(other)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, PrefetcherContract,
                         testing::ValuesIn(policy_variants(prefetcher_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::test::prefetcher_contract_test
