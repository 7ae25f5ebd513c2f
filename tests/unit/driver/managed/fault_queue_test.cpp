#include "models/driver/managed/fault_queue.hpp"

#include <gmock/gmock.h>

#include "core/parameters/parameters.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/unit/driver/managed_page_literal.hpp"

namespace lockstep::test::fault_queue_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time when(std::int64_t ns) {
  return Time{ns * 1'000'000};
}

/// Two tenants with a buffer of 64 pages each; the second one's begin at page 512.
class FaultQueueTest : public testing::Test {
 protected:
  FaultQueueTest() {
    for (const std::uint16_t tenant : {std::uint16_t{0}, std::uint16_t{1}})
      pages.add(TenantId{tenant}, BufferId{0}, VirtualPage{1 << 20}, 64);
  }
  void push(ManagedPage page, std::int64_t ns) {
    queue.push({page, when(ns), when(ns), when(ns), false});
  }
  std::vector<ManagedPage> all() {
    std::vector<ManagedPage> taken;
    while (!queue.empty()) taken.push_back(queue.take_next().page);
    return taken;
  }

  std::unique_ptr<Eviction> eviction = make_eviction(policy_named(eviction_policies(), "none"));
  HostFaultParameters parameters = defaults<HostFaultParameters>();
  ManagedPages pages{*eviction, 1};
  FaultQueue queue{pages, parameters, {0, 0}};
};

TEST_F(FaultQueueTest, FaultsAreTakenInTheOrderOfTheirArrival) {
  for (const ManagedPage page : {7_page, 3_page, 520_page}) push(page, 1);
  EXPECT_THAT(all(), ElementsAre(7_page, 3_page, 520_page));
}

TEST_F(FaultQueueTest, FaultsOfOneCycleOnAPageAreTakenTogether) {
  push(3_page, 1);
  push(3_page, 1);
  push(4_page, 1);
  push(3_page, 2);
  const PageFault first = queue.take_next();
  EXPECT_EQ(queue.take_with(first).size(), 1u);
  EXPECT_THAT(all(), ElementsAre(4_page, 3_page));
}

TEST_F(FaultQueueTest, FaultOnAPageThatLeavesComesAgainWhenItHasLeft) {
  push(3_page, 1);
  queue.defer(queue.take_next());
  pages.buffer_of(3_page).holds = 1;
  queue.reconsider(when(5));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.deferred(), 1u);
  pages.buffer_of(3_page).holds = 0;
  queue.reconsider(when(6));
  EXPECT_EQ(queue.first(), when(6));
  EXPECT_EQ(queue.take_next().arrived, when(1));
}

TEST_F(FaultQueueTest, FaultsThatAwaitAPageAreTakenOnce) {
  for (const ManagedPage page : {3_page, 9_page}) queue.await({page, {}, {}, {}, false});
  EXPECT_THAT(queue.take_awaited({4_page, 5}), IsEmpty());
  EXPECT_EQ(queue.take_awaited({0_page, 9}).size(), 1u);
  EXPECT_THAT(queue.take_awaited({0_page, 9}), IsEmpty());
  EXPECT_EQ(queue.take_awaited({0_page, 64}).size(), 1u);
}

}  // namespace
}  // namespace lockstep::test::fault_queue_test
