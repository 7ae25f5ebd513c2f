/// Peer policies that decide by what has happened to a page.
#include <gtest/gtest.h>

#include "models/driver/peer_policy/peer_policy.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test::peer_histories_test {
namespace {

using namespace literals;

/// A page, and what the policy remembers of it.
class PageOf {
 public:
  explicit PageOf(const std::string& policy)
      : policy_(make_peer_policy(policy_written<peer_policies>(policy))) {}

  PeerWay fault(std::uint32_t gpu, Time now, bool write = true, bool is_reachable = true) {
    const PeerFault fault{write, is_reachable, gpu, now, history_};
    policy_->note(fault, history_);
    return policy_->way(fault);
  }
  const PeerPolicy& policy() const { return *policy_; }
  const PeerHistory& history() const { return history_; }

 private:
  std::unique_ptr<PeerPolicy> policy_;
  PeerHistory history_;
};

TEST(DriverPeers, APageThatGoesToAndFroIsMappedFromTheThirdTimeOn) {
  PageOf page("driver");
  EXPECT_EQ(page.fault(0, 0_us), PeerWay::move);
  EXPECT_EQ(page.fault(1, 100_us), PeerWay::move);
  EXPECT_EQ(page.fault(0, 200_us), PeerWay::move);
  EXPECT_EQ(page.fault(1, 300_us), PeerWay::move) << "the third event";
  EXPECT_EQ(page.fault(0, 400_us), PeerWay::map);
}

TEST(DriverPeers, AThrashingPageStaysPinnedForAWhileAndThenMovesAgain) {
  PageOf page("{name: driver, events: 1, lapse: 100us, pin: 1ms}");
  page.fault(0, 0_us);
  page.fault(1, 50_us);
  EXPECT_EQ(page.fault(0, 100_us), PeerWay::map);
  EXPECT_EQ(page.fault(2, 1000_us), PeerWay::map) << "pinned since 100 us";
  EXPECT_EQ(page.fault(0, 1101_us), PeerWay::move);
}

TEST(DriverPeers, MovesThatLieApartAreNoThrashing) {
  PageOf page("{name: driver, events: 2, lapse: 100us}");
  for (unsigned i = 0; i < 9; ++i)
    EXPECT_EQ(page.fault(i % 2, 101_us * static_cast<std::int64_t>(i)), PeerWay::move);
}

TEST(DriverPeers, FaultsOfOneGpuAreNoThrashing) {
  PageOf page("{name: driver, events: 1}");
  for (unsigned i = 0; i < 9; ++i)
    EXPECT_EQ(page.fault(1, 10_us * static_cast<std::int64_t>(i)), PeerWay::move);
}

TEST(DriverPeers, WhereThereIsNoWayAThrashingPageStaysLonger) {
  PageOf page("{name: driver, events: 2, stays: 5us, nap: 70us}");
  page.fault(0, 0_us, true, false);
  page.fault(1, 10_us, true, false);
  EXPECT_EQ(page.policy().stays(page.history()), 5_us);
  EXPECT_EQ(page.fault(0, 20_us, true, false), PeerWay::move);
  EXPECT_EQ(page.policy().stays(page.history()), 70_us);
  EXPECT_EQ(page.fault(1, 30_us, true, false), PeerWay::move);
}

TEST(Grit, APageThatIsReadOnlyIsCopiedAfterFourFaults) {
  PageOf page("grit");
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu)
    EXPECT_EQ(page.fault(gpu, 0_us, false), PeerWay::move);
  EXPECT_TRUE(page.policy().copies_reads(page.history()));
  EXPECT_EQ(page.fault(0, 0_us, false), PeerWay::copy);
  EXPECT_EQ(page.fault(0, 0_us, true), PeerWay::move) << "a store takes it from all others";
}

TEST(Grit, APageThatIsWrittenIsMappedAfterFourFaults) {
  PageOf page("grit");
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu)
    EXPECT_EQ(page.fault(gpu, 0_us, gpu == 2), PeerWay::move);
  EXPECT_FALSE(page.policy().copies_reads(page.history()));
  EXPECT_EQ(page.fault(0, 0_us, false), PeerWay::map);
  EXPECT_EQ(page.fault(1, 0_us, false, false), PeerWay::move) << "there is no way";
  EXPECT_GT(page.policy().counts_to(), 0u);
}

TEST(Grit, ASchemeIsChosenAnewByTheFaultsSinceTheLastTime) {
  PageOf page("{name: grit, faults: 2}");
  page.fault(0, 0_us, true);
  page.fault(1, 0_us, false);
  EXPECT_EQ(page.fault(0, 0_us, false), PeerWay::map);
  page.fault(1, 0_us, false);
  EXPECT_EQ(page.fault(0, 0_us, false), PeerWay::copy);
}

}  // namespace
}  // namespace lockstep::test::peer_histories_test
