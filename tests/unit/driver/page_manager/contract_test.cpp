/// What every registered page manager must keep: frames for every page once, all of memory back in
/// the end, and the same choices after saving and restoring, wherever its objects lie.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <sstream>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "tests/harness/policy_variants.hpp"

namespace lockstep::test::page_manager_contract_test {
namespace {

constexpr std::uint64_t capacity = 16 * large_page_bytes;

struct Chosen {
  PolicyChoice page_manager;
  static auto schema() {
    return parameters<Chosen>().policy("page_manager", &Chosen::page_manager, "base-pages",
                                       page_manager_policies, "the one under test");
  }
};

/// A driver that is always busy.
class NoServices final : public PageServices {
 public:
  bool coalesce(TenantId, VirtualPage) override { return false; }
  bool splinter(TenantId, VirtualPage) override { return false; }
  bool copy(TenantId, VirtualPage, Frame) override { return false; }
  void move_foreign(std::uint32_t, Frame) override {}
};

/// Ranges of pages of two tenants come and go, drawn from a seed.
class Life {
 public:
  Life(const std::string& policy, unsigned seed)
      : manager(make_page_manager(
            read_parameters<Chosen>(parse_document("page_manager: " + policy, "test")).page_manager,
            {capacity, 2})),
        random_(seed) {}

  /// What came, or nothing if memory was full or something went.
  std::vector<FrameRun> step() {
    if (random_() % 3 == 0 && !held_.empty()) {
      go();
      return {};
    }
    const std::uint64_t granule = manager->granule_pages();
    const bool paged = random_() % 2 == 0;
    const std::uint64_t count = (1 + random_() % 700 / granule) * granule;
    const TenantPages pages{TenantId{static_cast<std::uint16_t>(random_() % 2)}, next_, count};
    next_ += (count + pages_per_large) / pages_per_large * pages_per_large;
    const std::vector<FrameRun> frames = manager->allocate(pages, paged);
    if (!frames.empty()) held_.push_back({pages, frames});
    return frames;
  }
  void go() {
    const std::size_t which = random_() % held_.size();
    NoServices services;
    manager->free(held_[which].pages.tenant, held_[which].frames, services);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void expect_every_frame_once() const {
    std::map<std::uint64_t, std::uint64_t> taken{{0, page_bytes}};  // nobody gets the first
    for (const auto& [pages, frames] : held_) {
      std::uint64_t bytes = 0;
      for (const FrameRun& run : frames) {
        ASSERT_EQ(run.physical % page_bytes, 0u);
        ASSERT_LE(run.physical + run.bytes, capacity);
        ASSERT_TRUE(taken.emplace(run.physical, run.bytes).second);
        bytes += run.bytes;
      }
      ASSERT_EQ(bytes, pages.count * page_bytes);
    }
    std::uint64_t end = 0;
    for (const auto& [base, bytes] : taken) {
      ASSERT_GE(base, end);
      end = base + bytes;
    }
  }
  bool empty() const { return held_.empty(); }

  std::unique_ptr<PageManager> manager;

 private:
  struct Held {
    TenantPages pages;
    std::vector<FrameRun> frames;
  };
  std::mt19937 random_;
  std::vector<Held> held_;
  VirtualPage next_{1 << 20};
};

class PageManagerContract : public testing::TestWithParam<std::string> {};

TEST_P(PageManagerContract, EveryPageHasAFrameOfItsOwn) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Life life(GetParam(), seed);
    int come = 0;
    for (int i = 0; i < 300; ++i) {
      come += !life.step().empty();
      life.expect_every_frame_once();
    }
    EXPECT_GT(come, 30);
  }
}

TEST_P(PageManagerContract, MemoryIsWholeAgainWhenEverythingIsFreed) {
  Life life(GetParam(), 3);
  const std::uint64_t free = life.manager->frames().free_bytes();
  for (int i = 0; i < 500; ++i) life.step();
  while (!life.empty()) life.go();
  EXPECT_EQ(life.manager->frames().free_bytes(), free);
}

TEST_P(PageManagerContract, TablesComeBackWithTheirTenant) {
  Life life(GetParam(), 3);
  const std::uint64_t free = life.manager->frames().free_bytes();
  std::vector<TableWrite> writes;
  const TenantPages pages{TenantId{1}, VirtualPage{1 << 20}, 3 * pages_per_large};
  life.manager->reserve(pages, writes);
  EXPECT_LT(life.manager->frames().free_bytes(), free);
  EXPECT_FALSE(writes.empty());
  life.manager->end_tenant(TenantId{1});
  EXPECT_EQ(life.manager->frames().free_bytes(), free);
}

/// The second one is restored from the first now and then, and lies elsewhere.
TEST_P(PageManagerContract, RestoredOneChoosesTheSame) {
  Life one(GetParam(), 7);
  const auto between = std::make_unique<std::vector<char>>(54'321);
  Life other(GetParam(), 7);
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(one.step(), other.step()) << "step " << i;
    if (i % 50 != 20) continue;
    std::stringstream bytes;
    Archive saving = Archive::saving(bytes);
    one.manager->serialize(saving);
    Archive restoring = Archive::restoring(bytes);
    other.manager->serialize(restoring);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, PageManagerContract,
                         testing::ValuesIn(policy_variants(page_manager_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::test::page_manager_contract_test
