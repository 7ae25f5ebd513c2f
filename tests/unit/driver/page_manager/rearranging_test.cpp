/// A page manager that coalesces, splinters and copies pages, as Mosaic's parts would: what it asks
/// for happens on the machine, and no byte is lost.
#include <gmock/gmock.h>

#include <deque>

#include "tests/unit/driver/driver_world.hpp"

namespace lockstep::test::rearranging_test {
namespace {

using Wish = std::function<bool(PageServices&)>;

/// Base pages that keep their place in a large frame for each 512 pages of a tenant; 512 of them
/// that are there are coalesced.  Whenever something is done, the next wish is asked for.
class Rearranging final : public PageManager {
 public:
  using PageManager::PageManager;

  std::vector<FrameRun> allocate(const TenantPages& pages, bool) override {
    const std::uint64_t region = pages.first.value() / pages_per_large;
    if (!regions_.contains(region)) {
      const auto base = allocator().allocate(large_page_bytes, large_page_bytes);
      if (!base) return {};
      regions_[region] = base->value();
    }
    mapped_ += pages.count;
    const std::uint64_t within = pages.first.value() % pages_per_large * page_bytes;
    return {{regions_[region] + within, pages.count * page_bytes}};
  }
  /// Large frames stay with their region.
  void free(TenantId, std::span<const FrameRun> frames, PageServices&) override {
    for (const FrameRun& run : frames) freed.push_back(run.physical);
  }
  void transfer_finished(const TenantPages& pages, PageServices& services) override {
    const VirtualPage first{pages.first.value() / pages_per_large * pages_per_large};
    if (mapped_ == pages_per_large) services.coalesce(pages.tenant, first);
  }
  void rearranged(const TenantPages& pages, PageServices& services) override {
    done.push_back(pages);
    if (wishes.empty()) return;
    const Wish wish = wishes.front();
    wishes.pop_front();
    granted.push_back(wish(services));
  }
  Frame take_frame() { return frame_of(*allocator().allocate(page_bytes)); }

  std::deque<Wish> wishes;
  std::vector<bool> granted;
  std::vector<TenantPages> done;
  std::vector<std::uint64_t> freed;

 private:
  std::map<std::uint64_t, std::uint64_t> regions_;  ///< large frames
  std::uint64_t mapped_ = 0;
};

constexpr TenantId tenant = DriverWorld::tenant;
constexpr VirtualPage first = DriverWorld::first_page;

class RearrangingTest : public testing::Test {
 protected:
  RearrangingTest() : world(options()) {}

  DriverWorld::Options options() {
    DriverWorld::Options result;
    result.frames = 4 * pages_per_large;
    result.bytes = large_page_bytes;
    result.make_page_manager = [this](const PageManager::Setup& setup) {
      auto made = std::make_unique<Rearranging>(setup);
      manager = made.get();
      return made;
    };
    return result;
  }
  /// All pages come; what the page manager wishes happens.
  void bring_all() {
    world.managed().prefetch(world.allocation(), 0, world.pages(), true, 1, world.cycle());
    world.run();
  }
  void send_home() {
    world.managed().prefetch(world.allocation(), 0, world.pages(), false, 2, world.cycle());
    world.run();
  }
  /// Every page has the host's byte, but for those that were stored to.
  void expect_bytes(const std::map<std::uint64_t, std::byte>& stored = {}) {
    for (std::uint64_t page = 0; page < world.pages(); ++page) {
      const auto changed = stored.find(page);
      ASSERT_EQ(world.gpu_byte(page),
                changed == stored.end() ? world.host_byte(page) : changed->second)
          << page;
    }
  }
  bool is_large() { return world.driver().tables().is_large(tenant, first); }
  bool is_large_in_memory() {
    const PageTableEntry entry{
        world.memory_word(world.driver().tables().directory_address(tenant, first))};
    return entry.is(PageTableEntry::large);
  }
  Wish splinter() {
    return [](PageServices& services) { return services.splinter(tenant, first); };
  }
  Wish copy(std::uint64_t page) {
    return [this, page](PageServices& services) {
      return services.copy(tenant, first + page, manager->take_frame());
    };
  }

  Rearranging* manager = nullptr;
  DriverWorld world;
};

TEST_F(RearrangingTest, PagesOfALargeFrameBecomeALargePageWithoutBeingUnmapped) {
  bring_all();
  EXPECT_EQ(manager->done.size(), 1u);
  EXPECT_TRUE(is_large());
  EXPECT_TRUE(is_large_in_memory());
  EXPECT_TRUE(world.mapped.back().large);
  EXPECT_EQ(world.mapped.back().entries.size(), pages_per_large);
  EXPECT_TRUE(world.unmapped_pages.empty());
  expect_bytes();
}

TEST_F(RearrangingTest, LargePageIsUnmappedAndSplinteredInPlace) {
  manager->wishes.push_back([this](PageServices& services) {
    world.store(9, std::byte{42});
    return services.splinter(tenant, first);
  });
  bring_all();
  EXPECT_EQ(manager->granted, std::vector<bool>{true});
  EXPECT_FALSE(is_large());
  EXPECT_FALSE(is_large_in_memory());
  EXPECT_FALSE(world.mapped.back().large);
  EXPECT_EQ(world.unmapped_pages.size(), pages_per_large);
  EXPECT_TRUE(world.entry(9).is(PageTableEntry::dirty));
  expect_bytes({{9, std::byte{42}}});
  send_home();
  EXPECT_EQ(world.host_byte(9), std::byte{42}) << "it was still known to be dirty";
}

TEST_F(RearrangingTest, CopiedPageHasItsBytesInItsNewFrame) {
  manager->wishes = {splinter(), [this](PageServices& services) {
                       world.store(9, std::byte{42});
                       return services.copy(tenant, first + 9, manager->take_frame());
                     }};
  bring_all();
  EXPECT_EQ(manager->granted, (std::vector<bool>{true, true}));
  const std::uint64_t home = world.entry(8).address() + page_bytes;
  EXPECT_NE(world.entry(9).address(), home);
  EXPECT_EQ(manager->freed, std::vector<std::uint64_t>{home});
  EXPECT_EQ(world.mapped.back().entries[0].address(), world.entry(9).address());
  expect_bytes({{9, std::byte{42}}});
  for (std::uint64_t byte = 1; byte < page_bytes; byte += 7)
    EXPECT_EQ(world.gpu_byte(9, byte), world.host_byte(9, byte)) << byte;
  send_home();
  EXPECT_EQ(world.host_byte(9), std::byte{42});
}

TEST_F(RearrangingTest, WhatIsNotAtRestIsRefused) {
  manager->wishes.push_back([](PageServices& services) {
    EXPECT_FALSE(services.copy(tenant, first + 3, Frame{1})) << "part of a large page";
    EXPECT_FALSE(services.coalesce(tenant, first)) << "large already";
    EXPECT_TRUE(services.splinter(tenant, first));
    EXPECT_FALSE(services.splinter(tenant, first)) << "under way";
    EXPECT_FALSE(services.copy(tenant, first + 3, Frame{1})) << "under way";
    return true;
  });
  manager->wishes.push_back([this](PageServices& services) {
    EXPECT_FALSE(services.splinter(tenant, first)) << "not large any more";
    return copy(3)(services);
  });
  manager->wishes.push_back([](PageServices& services) {
    EXPECT_FALSE(services.coalesce(tenant, first)) << "a page lies elsewhere";
    return false;
  });
  bring_all();
  EXPECT_EQ(manager->granted, (std::vector<bool>{true, true, false}));
}

TEST_F(RearrangingTest, CpuThatWantsAPageWaitsUntilItIsCopied) {
  manager->wishes = {splinter(), [this](PageServices& services) {
                       world.store(9, std::byte{42});
                       const bool copies = services.copy(tenant, first + 9, manager->take_frame());
                       world.managed().hold(world.allocation());
                       EXPECT_FALSE(world.managed().migrate_home(
                           world.allocation(), 0, world.pages(), true, world.cycle()));
                       return copies;
                     }};
  bring_all();
  EXPECT_TRUE(
      world.managed().migrate_home(world.allocation(), 0, world.pages(), true, world.cycle()));
  EXPECT_EQ(world.host_byte(9), std::byte{42});
  EXPECT_TRUE(world.driver().idle());
}

TEST_F(RearrangingTest, FaultOnAPageThatIsCopiedIsAnsweredByTheNewsOfIt) {
  manager->wishes = {splinter(), [this](PageServices& services) {
                       const bool copies = services.copy(tenant, first + 9, manager->take_frame());
                       world.mapped.clear();
                       world.fault({9});
                       return copies;
                     }};
  bring_all();
  ASSERT_EQ(world.mapped.size(), 2u) << "of the splintered page, and of the copy";
  EXPECT_EQ(world.mapped[0].entries.size(), pages_per_large);
  EXPECT_EQ(world.mapped[1].page, 9u);
  EXPECT_EQ(world.mapped[1].entries[0].address(), world.entry(9).address());
}

}  // namespace
}  // namespace lockstep::test::rearranging_test
