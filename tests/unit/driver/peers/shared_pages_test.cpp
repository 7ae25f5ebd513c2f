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
  explicit FakeGpu(std::uint32_t number) : number_(number) {}

  void give_away(std::uint32_t, std::uint64_t first, std::uint64_t count, Time, Outbox&) override {
    for (std::uint64_t unit = first; unit < first + count; ++unit) asked.push_back(unit);
  }
  void reconsider(Time, Outbox&) override { ++woken; }
  std::uint32_t number() const override { return number_; }
  bool reaches(std::uint32_t) const override { return has_way; }
  bool is_resident(std::uint32_t, std::uint64_t) const override { return has; }
  std::vector<FrameRun> lend(std::uint32_t, std::uint64_t unit) override {
    return {{unit * 4096, 4096}};
  }
  std::vector<FrameRun> frames(std::uint32_t, std::uint64_t unit) const override {
    return {{unit * 4096, 4096}};
  }
  bool is_without(std::uint32_t, std::uint64_t) const override { return !has; }
  void send(std::uint32_t, const std::vector<FrameRun>& from, const std::vector<FrameRun>& to,
            std::uint32_t gpu, std::uint64_t id, Time, Outbox&) override {
    sent.push_back({from.front().physical, to.front().physical, gpu, id});
  }
  void was_read(std::uint32_t departure, Time, Outbox&) override { read.push_back(departure); }
  void has_come(std::uint32_t migration, Time, Outbox&) override { come.push_back(migration); }
  void take_in(std::uint32_t, std::uint64_t unit, Time, Outbox&) override {
    if (takes && pages->claim_spilled(buffer, unit, number_)) taken.push_back(unit);
  }

  struct Sent {
    std::uint64_t from = 0, to = 0;
    std::uint32_t gpu = 0;
    std::uint64_t id = 0;
  };
  std::vector<std::uint64_t> asked, taken;
  std::vector<Sent> sent;
  std::vector<std::uint32_t> read, come;
  SharedPages* pages = nullptr;
  std::uint32_t buffer = 0;
  bool takes = false;
  unsigned woken = 0;
  bool has = false, has_way = true;

 private:
  const std::uint32_t number_;
};

/// Three GPUs that share a buffer of four units.
class SharedUnits : public testing::Test {
 protected:
  void use(const std::string& policy) {
    pages_ = std::make_unique<SharedPages>(make_peer_policy(policy_written<peer_policies>(policy)));
    for (FakeGpu& gpu : gpus_) pages_->join(gpu);
    for (FakeGpu& gpu : gpus_) gpu.pages = pages_.get();
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
  std::array<FakeGpu, 3> gpus_{FakeGpu(0), FakeGpu(1), FakeGpu(2)};
  std::unique_ptr<SharedPages> pages_;
};

TEST_F(SharedUnits, AGpuWaitsUntilTheOtherHasGivenThePageUp) {
  use("{name: migrate, stays: 0us, page_route: host}");
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
  use("{name: migrate, stays: 10us, page_route: host}");
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

TEST_F(SharedUnits, AMappedPageIsGivenUpByWhoMapsItBeforeItLeaves) {
  use("{name: remote, stays: 0us}");
  EXPECT_TRUE(wants(0, true, 1_us));
  comes(0, 1_us);
  EXPECT_FALSE(pages_->recall({0, 2, 1}, 0));
  EXPECT_TRUE(wants(1, true, 2_us));
  EXPECT_TRUE(pages_->is_to_be_mapped(0, 2, 1));
  EXPECT_EQ(pages_->borrow(0, 2).front().physical, 2u * 4096);
  pages_->coming({0, 2, 1}, 1);
  EXPECT_TRUE(pages_->recall({0, 2, 1}, 0)) << "it is on its way already";
  gpus_[0].has = false;
  pages_->came_mapped({0, 2, 1}, 1);
  gpus_[1].asked.clear();
  EXPECT_TRUE(pages_->is_borrowed({0, 2, 1}, 0));
  pages_->left({0, 2, 1}, 1);
  EXPECT_FALSE(pages_->is_borrowed({0, 2, 1}, 0));
  act(3_us);
  EXPECT_EQ(gpus_[0].woken, 1u);
}

TEST_F(SharedUnits, AMappedPageThatIsUsedMuchIsGivenUpAndMovesToItsUser) {
  use("{name: remote, stays: 0us}");
  EXPECT_TRUE(wants(0, true, 1_us));
  comes(0, 1_us);
  EXPECT_TRUE(wants(1, true, 2_us));
  pages_->coming({0, 2, 1}, 1);
  pages_->came_mapped({0, 2, 1}, 1);
  EXPECT_TRUE(pages_->attract(0, 2, 1));
  EXPECT_FALSE(pages_->attract(0, 2, 2)) << "it is to move to another one";
  act(3_us);
  EXPECT_EQ(gpus_[1].asked, std::vector<std::uint64_t>{2}) << "what it maps";
  pages_->left({0, 2, 1}, 1);
  EXPECT_TRUE(wants(1, true, 4_us));
  EXPECT_FALSE(pages_->is_to_be_mapped(0, 2, 1));
  EXPECT_TRUE(gpus_[0].asked.empty()) << "until there are frames";
  pages_->coming({0, 2, 1}, 1);
  EXPECT_TRUE(pages_->fetch({0, 2, 1}, 1));
  act(4_us);
  EXPECT_EQ(gpus_[0].asked, std::vector<std::uint64_t>{2});
}

TEST_F(SharedUnits, BytesGoOverTheFabricFromFramesThatAreKeptUntilTheyHaveBeenRead) {
  use("{name: migrate, stays: 0us}");
  EXPECT_TRUE(wants(0, true, 1_us));
  comes(0, 1_us);
  EXPECT_TRUE(wants(1, true, 2_us));
  pages_->coming({0, 2, 1}, 1);
  EXPECT_FALSE(pages_->is_awaited(0, 2, 0)) << "who wants it has no frames yet";
  EXPECT_TRUE(pages_->fetch({0, 2, 1}, 1));
  act(2_us);
  EXPECT_EQ(gpus_[0].asked, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(pages_->is_awaited(0, 2, 0));
  pages_->park(0, 2, {0, 17, true, {{2 * 4096, 4096}}});
  act(3_us);
  EXPECT_EQ(gpus_[1].woken, 1u);
  EXPECT_TRUE(pages_->is_ready({0, 2, 1}, 1));
  const auto source = pages_->take_source(0, 2, 1);
  ASSERT_TRUE(source);
  EXPECT_TRUE(source->is_newer);
  pages_->send(0, 2, *source, 1, {{9 * 4096, 4096}}, 5, 3_us, sink_.outbox());
  ASSERT_EQ(gpus_[0].sent.size(), 1u);
  EXPECT_EQ(gpus_[0].sent.front().from, 2u * 4096);
  EXPECT_EQ(gpus_[0].sent.front().to, 9u * 4096);
  EXPECT_TRUE(gpus_[0].read.empty());
  pages_->copied(gpus_[0].sent.front().id, 4_us, sink_.outbox());
  EXPECT_EQ(gpus_[0].read, std::vector<std::uint32_t>{17});
  EXPECT_EQ(gpus_[1].come, std::vector<std::uint32_t>{5});
}

TEST_F(SharedUnits, ACopyIsReadWhereItStaysAndDoesNotLeaveMeanwhile) {
  use("{name: duplicate, stays: 0us}");
  EXPECT_TRUE(wants(0, false, 1_us, true));
  comes(0, 1_us, true);
  EXPECT_TRUE(wants(1, false, 2_us, true));
  pages_->coming({0, 2, 1}, 1);
  EXPECT_FALSE(pages_->fetch({0, 2, 1}, 1));
  const auto source = pages_->take_source(0, 2, 1);
  ASSERT_TRUE(source);
  pages_->send(0, 2, *source, 1, {{9 * 4096, 4096}}, 5, 3_us, sink_.outbox());
  EXPECT_TRUE(pages_->recall({0, 2, 1}, 0));
  EXPECT_TRUE(pages_->is_borrowed({0, 2, 1}, 0));
  pages_->copied(gpus_[0].sent.front().id, 4_us, sink_.outbox());
  EXPECT_FALSE(pages_->is_borrowed({0, 2, 1}, 0));
  act(4_us);
  EXPECT_EQ(gpus_[0].woken, 1u) << "it may leave now";
}

TEST_F(SharedUnits, AnEvictedPageGoesToTheNextGpuWithRoomAndAWay) {
  use("{name: migrate, stays: 0us, spill: neighbour}");
  EXPECT_TRUE(wants(0, true, 1_us));
  comes(0, 1_us);
  gpus_[2].takes = true;
  pages_->spill({0, 2, 1}, 0);
  act(2_us);
  EXPECT_TRUE(gpus_[1].taken.empty()) << "it has no room";
  EXPECT_EQ(gpus_[2].taken, std::vector<std::uint64_t>{2});
  pages_->coming({0, 2, 1}, 2);
  EXPECT_TRUE(pages_->fetch({0, 2, 1}, 2));
  EXPECT_TRUE(pages_->is_awaited(0, 2, 0));
  gpus_[0].has_way = false;
  pages_->spill({0, 1, 1}, 0);
  act(3_us);
  EXPECT_EQ(gpus_[2].taken.size(), 1u);
}

TEST_F(SharedUnits, APageThatSomebodyWantsIsNotSpilled) {
  use("{name: migrate, stays: 9us, spill: neighbour}");
  EXPECT_TRUE(wants(0, true, 1_us));
  comes(0, 1_us);
  EXPECT_FALSE(wants(1, true, 2_us));
  gpus_[2].takes = true;
  pages_->spill({0, 2, 1}, 0);
  act(2_us);
  EXPECT_TRUE(gpus_[2].taken.empty());
}

TEST_F(SharedUnits, PagesAroundOnesWithASchemeFollowWhenMostOfTheirGroupHaveTheScheme) {
  pages_ = std::make_unique<SharedPages>(
      make_peer_policy(policy_written<peer_policies>("{name: grit, faults: 1, stays: 0us}")));
  for (FakeGpu& gpu : gpus_) pages_->join(gpu);
  for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) pages_->add(5, 1, gpu, gpu, 16);
  for (std::uint64_t unit = 0; unit < 5; ++unit) {
    EXPECT_FALSE(pages_->copies_reads(0, 7, 1)) << unit;
    EXPECT_TRUE(pages_->may_come(0, unit, 0, false, false, 1_us));
    EXPECT_TRUE(pages_->copies_reads(0, unit, 1));
  }
  EXPECT_TRUE(pages_->copies_reads(0, 7, 1)) << "five of the eight are copied";
  EXPECT_FALSE(pages_->copies_reads(0, 8, 1)) << "of another group";
}

TEST_F(SharedUnits, APageComesAsItWasLetComeThoughItsSchemeHasChangedMeanwhile) {
  use("{name: grit, faults: 2, stays: 0us}");
  EXPECT_TRUE(pages_->may_come(0, 2, 0, false, false, 1_us));
  comes(0, 1_us);
  EXPECT_TRUE(pages_->may_come(0, 2, 1, false, false, 2_us)) << "its second fault";
  EXPECT_TRUE(pages_->copies_reads(0, 2, 2)) << "it is to be copied from now on";
  EXPECT_FALSE(pages_->copies_reads(0, 2, 1)) << "this one gets the page itself";
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
