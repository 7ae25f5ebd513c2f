/// A policy that runs through the coordinator, in whole small machines: what it is told, and when,
/// is the same in any layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "core/statistics/statistics.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "tests/properties/going_on.hpp"

namespace lockstep::testing::coordinator_test {
namespace {

using namespace literals;

constexpr Time period = 2_us;

/// Partition, time and value of all that the policies of one machine were told.
class Told {
 public:
  using Entry = std::tuple<PartitionId, Time, std::uint64_t>;
  void add(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    all_.insert(entry);
  }
  std::set<Entry> take() { return std::exchange(all_, {}); }

 private:
  std::mutex mutex_;
  std::set<Entry> all_;
};
Told told;

struct FollowsStatistics {
  Counter decisions;
  static auto schema() {
    using S = FollowsStatistics;
    return statistics<S>().counter("decisions", &S::decisions, "decisions", "followed");
  }
};

/// Reports how many requests it served, and admits no more at once than all are told.
class Follows final : public DramScheduler {
 public:
  explicit Follows(const PartitionPolicySetup& setup) : partition_(setup.partition) {
    PartitionPolicySetup inner = setup;
    for (const PolicyInfo& info : dram_scheduler_policies())
      if (info.name == "fr-fcfs") inner.choice = PolicyChoice(info);
    inner_ = make_dram_scheduler(inner);
  }

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    return inner_->choose(queue, banks, now);
  }
  bool decides_admission() const override { return true; }
  bool admits(const DramQueue& queue, const MemoryRequest&, bool write) const override {
    return queue.room(write) && queue.size() < limit_;
  }
  void on_served(const DramQueue&, std::uint32_t, DramCycle) override { ++served_; }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  bool has_report() const override { return served_ != 0; }
  void report(std::vector<std::uint64_t>& increments) override {
    increments.push_back(std::exchange(served_, 0));
  }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time now) override {
    if (topic != EpochTopic::dram_scheduler) return;
    limit_ = values[0];
    ++statistics_.decisions;
    told.add({partition_, now, limit_});
  }
  void serialize(Archive& archive) override { archive(served_, limit_, statistics_); }

 private:
  const PartitionId partition_;
  std::unique_ptr<DramScheduler> inner_;
  std::uint64_t served_ = 0, limit_ = 4;
  FollowsStatistics statistics_;
};

class Leads final : public EpochController {
 public:
  Time period() const override { return coordinator_test::period; }
  void add(std::span<const std::uint64_t> increments) override { sum_ += increments[0]; }
  void decide(std::uint64_t, std::vector<std::uint64_t>& values) override {
    values.push_back(1 + std::exchange(sum_, 0) % 16);
  }
  void serialize(Archive& archive) override { archive(sum_); }

 private:
  std::uint64_t sum_ = 0;
};

class ACoordinatedMachine : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dram_schedulers().add(
        {"follows",
         "admits what all are told",
         {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
            return std::make_unique<Follows>(setup);
          },
          [](const EpochControllerSetup&) -> std::unique_ptr<EpochController> {
            return std::make_unique<Leads>();
          },
          &statistics_schema_of<FollowsStatistics>}});
  }
  void SetUp() override {
    bench = MachineBench::shipped("histogram", "{n: 16384, block: 128, blocks: 8}",
                                  {"policies.dram_scheduler=follows"});
    expected = bench->run({});
    expected_told = told.take();
    ASSERT_EQ(expected.problem, "");
  }

  std::unique_ptr<MachineBench> bench;
  MachineResult expected;
  std::set<Told::Entry> expected_told;
};

TEST_F(ACoordinatedMachine, TellsAllPartitionsTheSameAtOneTimeAfterAnEpoch) {
  std::map<Time, std::set<PartitionId>> who;
  std::map<Time, std::set<std::uint64_t>> what;
  for (const auto& [partition, at, value] : expected_told) {
    who[at].insert(partition);
    what[at].insert(value);
  }
  ASSERT_GE(who.size(), 5u);
  const Time delay = who.begin()->first - period * (who.begin()->first / period);
  EXPECT_GT(delay, Time::zero());
  for (const auto& [at, partitions] : who) {
    EXPECT_EQ(partitions.size(), who.begin()->second.size());
    EXPECT_EQ(what[at].size(), 1u);
    EXPECT_EQ(at - period * (at / period), delay);
  }
}

TEST_F(ACoordinatedMachine, DoesTheSameInAnyLayout) {
  for (const Layout& layout : other_layouts()) {
    const MachineResult got = bench->run(layout);
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(bench->compare_statistics(expected, got), "") << layout.text();
    EXPECT_EQ(told.take(), expected_told) << layout.text();
  }
}

TEST_F(ACoordinatedMachine, GoesOnFromACheckpoint) {
  for (const unsigned windows : {20u, 150u, 400u}) {
    expect_to_go_on(*bench, expected, Layout::interrupted(windows), windows,
                    Layout::random(windows));
    EXPECT_EQ(told.take(), expected_told) << windows;
  }
}

}  // namespace
}  // namespace lockstep::testing::coordinator_test
