/// What every registered eviction policy must keep: it names pages that may leave, each once, and
/// enough of them; and it chooses the same after saving and restoring, wherever its objects lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <sstream>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/driver/eviction/eviction_bench.hpp"

namespace lockstep::test::eviction_contract_test {
namespace {

/// Random arrivals, accesses, departures and pins over three allocations, with the order of use
/// kept in the simplest way beside the policy.
class Life {
 public:
  explicit Life(const std::string& policy) : bench(policy) {
    for (const std::uint64_t count : {700, 30, 512}) {
      const ManagedPage first = bench.add(count);
      for (std::uint64_t i = 0; i < count; ++i) pages.push_back(first + i);
    }
  }

  bool on_gpu(ManagedPage page) const { return bench.residency().place(page) == PagePlace::gpu; }
  void leave(ManagedPage page) {
    bench.leave(page);
    forget(page);
  }
  void step() {
    const ManagedPage page = pages[random() % pages.size()];
    switch (random() % 8) {
      case 0:
        if (on_gpu(page)) leave(page);
        break;
      case 1:
        bench.pin(page, random() % 4 == 0);
        break;
      case 2:
      case 3:
        bench.policy->accessed(page);
        if (on_gpu(page)) use(page);
        break;
      default: {
        const std::uint64_t run = 1 + random() % 20;
        const Allocation& owner = bench.residency().owner(page);
        for (ManagedPage p = page; p < page + run && owner.contains(p); ++p) {
          if (on_gpu(p)) continue;
          bench.arrive(p);
          use(p);
        }
      }
    }
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  std::uint64_t evictable() const {
    return static_cast<std::uint64_t>(std::count_if(
        pages.begin(), pages.end(), [&](ManagedPage page) { return bench.evictable(page); }));
  }
  /// What strict LRU by page takes: ascending pages.
  std::vector<ManagedPage> oldest(std::uint64_t wanted) const {
    std::vector<ManagedPage> result;
    for (const ManagedPage page : used) {
      if (result.size() < wanted && bench.evictable(page)) result.push_back(page);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  EvictionBench bench;
  std::vector<ManagedPage> pages;
  std::vector<ManagedPage> used;  ///< in GPU memory, least recently used first
  std::mt19937_64 random{11};

 private:
  void use(ManagedPage page) {
    forget(page);
    used.push_back(page);
  }
  void forget(ManagedPage page) {
    used.erase(std::remove(used.begin(), used.end(), page), used.end());
  }
};

class EvictionContract : public testing::TestWithParam<std::string> {
 protected:
  Life life_{GetParam()};
};

TEST_P(EvictionContract, VictimsAreEvictableAndEnoughIfThereAreEnough) {
  for (int round = 0; round < 400; ++round) {
    life_.steps(20);
    const std::uint64_t wanted = 1 + life_.random() % 40;
    const std::uint64_t possible = life_.bench.policy->evicts() ? life_.evictable() : 0;
    const std::vector<ManagedPage> by_age = life_.oldest(wanted);
    std::vector<ManagedPage> chosen;
    for (const PageRange& range : life_.bench.choose(wanted)) {
      ASSERT_GT(range.count, 0u);
      const Allocation& owner = life_.bench.residency().owner(range.first);
      for (ManagedPage page = range.first; page < range.end(); ++page) {
        ASSERT_TRUE(chosen.empty() || chosen.back() < page);
        ASSERT_TRUE(owner.contains(page));
        ASSERT_TRUE(life_.bench.evictable(page));
        chosen.push_back(page);
      }
    }
    ASSERT_GE(chosen.size(), std::min(wanted, possible));
    ASSERT_TRUE(life_.bench.policy->evicts() || chosen.empty());
    if (GetParam() == "{name: lru, granularity: page}") {
      ASSERT_EQ(chosen, by_age);
    }
    for (const ManagedPage page : chosen) life_.leave(page);
  }
}

TEST_P(EvictionContract, EveryEvictablePageCanBeHad) {
  life_.steps(300);
  for (int round = 0; round < 3000 && life_.bench.policy->evicts(); ++round)
    for (const PageRange& range : life_.bench.choose(1 + round % 7))
      for (ManagedPage page = range.first; page < range.end(); ++page) life_.leave(page);
  EXPECT_EQ(life_.evictable() == 0, life_.bench.policy->evicts());
}

TEST_P(EvictionContract, RestoredPolicyChoosesTheSame) {
  life_.steps(500);
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  life_.bench.policy->serialize(saving);
  const std::vector<PageRange> first = life_.bench.choose(100), second = life_.bench.choose(3);

  Life restored(GetParam());
  for (const ManagedPage page : life_.pages) {
    restored.bench.residency().set_place(page, life_.bench.residency().place(page));
    restored.bench.pin(page, life_.on_gpu(page) && !life_.bench.evictable(page));
  }
  Archive restoring = Archive::restoring(bytes);
  restored.bench.policy->serialize(restoring);
  EXPECT_EQ(restored.bench.choose(100), first);
  EXPECT_EQ(restored.bench.choose(3), second);
}

TEST_P(EvictionContract, ChoosesTheSameWhereverItsObjectsLie) {
  const auto between = std::make_unique<std::vector<char>>(54'321);
  Life other(GetParam());
  for (int round = 0; round < 50; ++round) {
    std::vector<std::unique_ptr<char[]>> scattered;
    for (int i = 0; i < 20; ++i) {
      life_.step();
      scattered.push_back(std::make_unique<char[]>(1 + static_cast<std::size_t>(i * round)));
      other.step();
    }
    const std::vector<PageRange> victims = life_.bench.choose(10);
    ASSERT_EQ(victims, other.bench.choose(10)) << "round " << round;
    for (const PageRange& range : victims)
      for (ManagedPage page = range.first; page < range.end(); ++page) {
        life_.leave(page);
        other.leave(page);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, EvictionContract,
                         testing::ValuesIn(policy_variants(eviction_policies())),
                         [](const auto& test) { return variant_name(test.param); });

/// Policies that go by the oldest page take it first, whatever else they take.
TEST(PageRecency, TheOldestPageIsAmongTheVictims) {
  for (const std::string policy : {"sequential-local", "tree"}) {
    Life life(policy);
    for (int round = 0; round < 400; ++round) {
      life.steps(20);
      const std::vector<ManagedPage> by_age = life.oldest(1);
      std::vector<ManagedPage> chosen;
      for (const PageRange& range : life.bench.choose(1 + life.random() % 40))
        for (ManagedPage page = range.first; page < range.end(); ++page) chosen.push_back(page);
      for (const ManagedPage page : by_age)
        ASSERT_TRUE(std::binary_search(chosen.begin(), chosen.end(), page)) << policy;
      for (const ManagedPage page : chosen) life.leave(page);
    }
  }
}

}  // namespace
}  // namespace lockstep::test::eviction_contract_test
