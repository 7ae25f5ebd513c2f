/// Pages that GPUs share: who gives a page up, who waits, whose turn it is.
#include "models/driver/shared/shared_pages.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/harness/message_sink.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test::shared_pages_test {
namespace {

using namespace literals;

/// Has units when the test says so, and writes down what is asked of it.
class FakeGpu final : public SharedPages::Gpu {
 public:
  void give_away(std::uint32_t, std::uint64_t first, std::uint64_t count, Time, Outbox&) override {
    for (std::uint64_t unit = first; unit < first + count; ++unit) asked.push_back(unit);
  }
  void reconsider(Time) override { ++woken; }
  bool is_without(std::uint32_t, std::uint64_t) const override { return !has; }

  std::vector<std::uint64_t> asked;
  unsigned woken = 0;
  bool has = false;
};

/// Three GPUs that share a buffer of four units.
class SharedUnits : public testing::Test {
 protected:
  void use(const std::string& policy) {
    pages_ = std::make_unique<SharedPages>(make_peer_policy(policy_written<peer_policies>(policy)));
    for (FakeGpu& gpu : gpus_) pages_->join(gpu);
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) pages_->add(5, 1, gpu, gpu, 4);
  }
  bool wants(std::uint32_t gpu, bool write, Time now, bool as_copy = false) {
    const bool may = pages_->may_come(0, 2, gpu, write, as_copy, now);
    act(now);
    return may;
  }
  void comes(std::uint32_t gpu, Time now, bool as_copy = false) {
    pages_->coming({0, 2, 1}, gpu);
    gpus_[gpu].has = true;
    pages_->came({0, 2, 1}, gpu, as_copy, now);
    act(now);
  }
  void leaves(std::uint32_t gpu, Time now) {
    gpus_[gpu].has = false;
    pages_->left({0, 2, 1}, gpu);
    act(now);
  }
  void act(Time now) { pages_->act(now, sink_.outbox()); }

  MessageSink sink_{1};
  std::array<FakeGpu, 3> gpus_;
  std::unique_ptr<SharedPages> pages_;
};

TEST_F(SharedUnits, AGpuWaitsUntilTheOtherHasGivenThePageUp) {
  use("{name: migrate, stays: 0us}");
  EXPECT_TRUE(wants(0, true, 1_us));
  comes(0, 2_us);
  EXPECT_FALSE(wants(1, false, 3_us));
  EXPECT_EQ(gpus_[0].asked, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(pages_->waits(0, 2, 1));
  leaves(0, 4_us);
  EXPECT_EQ(gpus_[1].woken, 1u);
  EXPECT_FALSE(pages_->waits(0, 2, 1));
  EXPECT_TRUE(wants(1, false, 5_us));
}

TEST_F(SharedUnits, APageStaysForAWhileAndThenGoesToWhoeverWaitsInTurn) {
  use("{name: migrate, stays: 10us}");
  EXPECT_TRUE(wants(1, true, 0_us));
  comes(1, 1_us);
  EXPECT_FALSE(wants(0, true, 2_us));
  EXPECT_FALSE(wants(2, true, 3_us));
  EXPECT_TRUE(gpus_[1].asked.empty());
  EXPECT_EQ(pages_->next_activity(), 11_us);
  act(11_us);
  EXPECT_EQ(gpus_[2].woken, 1u) << "the next behind GPU 1";
  EXPECT_EQ(gpus_[0].woken, 0u);
  EXPECT_FALSE(wants(2, true, 11_us));
  EXPECT_EQ(gpus_[1].asked, std::vector<std::uint64_t>{2});
  leaves(1, 12_us);
  EXPECT_TRUE(wants(2, true, 12_us));
  comes(2, 13_us);
  act(23_us);
  EXPECT_EQ(gpus_[0].woken, 1u);
}

TEST_F(SharedUnits, CopiesStayBesideEachOtherUntilAStore) {
  use("{name: duplicate, stays: 0us}");
  for (std::uint32_t gpu = 0; gpu < 3; ++gpu) {
    EXPECT_TRUE(wants(gpu, false, 1_us, true));
    comes(gpu, 2_us, true);
  }
  EXPECT_FALSE(wants(1, true, 3_us));
  EXPECT_EQ(gpus_[0].asked.size() + gpus_[2].asked.size(), 2u);
  leaves(0, 4_us);
  EXPECT_TRUE(pages_->waits(0, 2, 1)) << "the third has it still";
  leaves(2, 5_us);
  EXPECT_TRUE(wants(1, true, 5_us));
}

TEST_F(SharedUnits, APageDoesNotComeAlongWithOthersWhileSomebodyHasOrWantsIt) {
  use("{name: migrate, stays: 5us}");
  EXPECT_TRUE(pages_->is_free(0, 2, 0, false));
  EXPECT_TRUE(wants(0, true, 1_us));
  EXPECT_FALSE(pages_->is_free(0, 2, 1, false));
  comes(0, 1_us);
  EXPECT_FALSE(pages_->is_free(0, 2, 1, false));
  EXPECT_TRUE(pages_->is_free(0, 2, 0, false));
  EXPECT_TRUE(pages_->is_free(0, 3, 1, false));
}

}  // namespace
}  // namespace lockstep::test::shared_pages_test
