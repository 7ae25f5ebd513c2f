#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "tests/unit/driver/eviction/eviction_bench.hpp"

namespace lockstep::contract_test {
namespace {

/// Random arrivals, accesses, departures, pins and evictions over three allocations, with the order
/// of use kept in the simplest way beside the policy.
class EvictionContract : public testing::TestWithParam<std::string> {
 protected:
  EvictionContract() {
    for (const std::uint64_t pages : {700, 30, 512}) {
      const ManagedPage first = bench_.add(pages);
      for (std::uint64_t i = 0; i < pages; ++i) pages_.push_back(first + i);
    }
  }

  ManagedPage any() { return pages_[random_() % pages_.size()]; }
  bool on_gpu(ManagedPage page) const { return bench_.residency().place(page) == PagePlace::gpu; }
  void use(ManagedPage page) {
    forget(page);
    used_.push_back(page);
  }
  void forget(ManagedPage page) {
    used_.erase(std::remove(used_.begin(), used_.end(), page), used_.end());
  }

  void step() {
    const ManagedPage page = any();
    switch (random_() % 8) {
      case 0:
        if (on_gpu(page)) bench_.leave(page), forget(page);
        break;
      case 1:
        bench_.pin(page, random_() % 4 == 0);
        break;
      case 2:
      case 3:
        bench_.policy->accessed(page);
        if (on_gpu(page)) use(page);
        break;
      default: {
        const std::uint64_t run = 1 + random_() % 20;
        const Allocation& owner = bench_.residency().owner(page);
        for (ManagedPage p = page; p < page + run && owner.contains(p); ++p) {
          if (!on_gpu(p)) bench_.arrive(p), use(p);
        }
      }
    }
  }
  std::uint64_t evictable() const {
    return static_cast<std::uint64_t>(std::count_if(
        pages_.begin(), pages_.end(), [&](ManagedPage page) { return bench_.evictable(page); }));
  }
  /// What strict LRU by page takes: ascending pages.
  std::vector<ManagedPage> oldest(std::uint64_t wanted) const {
    std::vector<ManagedPage> result;
    for (const ManagedPage page : used_) {
      if (result.size() < wanted && bench_.evictable(page)) result.push_back(page);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  EvictionBench bench_{GetParam()};
  std::vector<ManagedPage> pages_;
  std::vector<ManagedPage> used_;  ///< in GPU memory, least recently used first
  std::mt19937_64 random_{11};
};

TEST_P(EvictionContract, VictimsAreEvictableAndEnoughIfThereAreEnough) {
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 20; ++i) step();
    const std::uint64_t wanted = 1 + random_() % 40;
    const std::uint64_t possible = evictable();
    const std::vector<ManagedPage> expected = oldest(wanted);
    std::vector<ManagedPage> chosen;
    for (const PageRange& range : bench_.choose(wanted)) {
      ASSERT_GT(range.count, 0u);
      const Allocation& owner = bench_.residency().owner(range.first);
      for (ManagedPage page = range.first; page < range.end(); ++page) {
        ASSERT_TRUE(chosen.empty() || chosen.back() < page);
        ASSERT_TRUE(owner.contains(page));
        ASSERT_TRUE(bench_.evictable(page));
        chosen.push_back(page);
      }
    }
    ASSERT_GE(chosen.size(), std::min(wanted, possible));
    if (GetParam() == "{name: lru, granularity: page}") {
      ASSERT_EQ(chosen, expected);
    }
    if (GetParam() == "sequential-local" || GetParam() == "tree") {
      for (const ManagedPage page : oldest(1))
        ASSERT_TRUE(std::binary_search(chosen.begin(), chosen.end(), page));
    }
    for (const ManagedPage page : chosen) bench_.leave(page), forget(page);
  }
}

TEST_P(EvictionContract, RestoredPolicyChoosesTheSame) {
  for (int i = 0; i < 500; ++i) step();
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  bench_.policy->serialize(saving);
  const std::vector<PageRange> first = bench_.choose(100), second = bench_.choose(3);

  EvictionBench restored(GetParam());
  for (const std::uint64_t pages : {700, 30, 512}) restored.add(pages);
  for (const ManagedPage page : pages_) {
    restored.residency().set_place(page, bench_.residency().place(page));
    restored.pin(page, on_gpu(page) && !bench_.evictable(page));
  }
  Archive restoring = Archive::restoring(bytes);
  restored.policy->serialize(restoring);
  EXPECT_EQ(restored.choose(100), first);
  EXPECT_EQ(restored.choose(3), second);
}

std::vector<std::string> choices() {
  std::vector<std::string> result;
  for (const PolicyInfo& policy : eviction_policies()) {
    if (policy.name == "none") continue;  // names nothing, whatever is wanted
    if (policy.parameters == nullptr) {
      result.push_back(policy.name);
    } else {
      for (const std::string granularity : {"page", "block", "large"})
        result.push_back("{name: " + policy.name + ", granularity: " + granularity + "}");
    }
  }
  return result;
}
INSTANTIATE_TEST_SUITE_P(All, EvictionContract, testing::ValuesIn(choices()),
                         [](const auto& choice) {
                           std::string name;
                           for (const char c : choice.param) {
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace lockstep::contract_test
