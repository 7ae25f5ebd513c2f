/// Policies of two partitions report to a controller and are told what it decides: at exact times,
/// the same at any layout, and across a checkpoint.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "core/engine/engine.hpp"
#include "core/exec/loopback_ranks.hpp"
#include "models/coordinator/coordinator.hpp"
#include "models/coordinator/messages.hpp"
#include "tests/harness/kept_parts.hpp"
#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::policy_epochs_test {
namespace {

using namespace literals;

constexpr Time period = 500_ns, to_coordinator = 30_ns, from_coordinator = 40_ns;
constexpr Time request_latency = 20_ns, answer_latency = 10_ns;

/// When a policy was told what.
using Told = std::vector<std::pair<Time, std::uint64_t>>;

/// Counts misses; loads whose program counter is below what all are told go past the L2.
class CountsMisses final : public CachePolicy {
 public:
  explicit CountsMisses(Told& told) : CachePolicy(admits | observes), told_(told) {}

  CacheAdmission on_arrival(const MemoryRequest& request, std::uint64_t, Time) override {
    return request.pc < threshold_ ? CacheAdmission::to_dram : CacheAdmission::to_bank;
  }
  void on_lookup(const MemoryRequest& request, CacheLookup found, Time) override {
    misses_ += found.hits != request.sectors;
  }
  bool has_report() const override { return misses_ != 0; }
  void report(std::vector<std::uint64_t>& increments) override {
    increments.push_back(std::exchange(misses_, 0));
  }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time now) override {
    if (topic != EpochTopic::cache_policy) return;
    threshold_ = values[0];
    told_.emplace_back(now, threshold_);
  }
  void serialize(Archive& archive) override { archive(misses_, threshold_); }

 private:
  Told& told_;
  std::uint64_t misses_ = 0, threshold_ = 0;
};

/// Admits as many requests as the other topic's controller says, and counts what it served.
class Limited final : public DramScheduler {
 public:
  Limited() : inner_(dram_scheduler_named("fcfs")) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    return inner_->choose(queue, banks, now);
  }
  bool decides_admission() const override { return true; }
  bool admits(const DramQueue& queue, const MemoryRequest&, bool write) const override {
    return queue.room(write) && queue.size() < limit_;
  }
  void on_served(const DramQueue&, std::uint32_t, DramCycle) override { ++served_; }
  bool has_report() const override { return served_ != 0; }
  void report(std::vector<std::uint64_t>& increments) override {
    increments.push_back(std::exchange(served_, 0));
  }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time) override {
    if (topic == EpochTopic::dram_scheduler) limit_ = values[0];
  }
  void serialize(Archive& archive) override { archive(served_, limit_); }

 private:
  std::unique_ptr<DramScheduler> inner_;
  std::uint64_t served_ = 0, limit_ = 4;
};

/// Tells the sum of all reports of the epoch, within bounds.
class SumController final : public EpochController {
 public:
  SumController(Time period, std::uint64_t least, std::uint64_t most)
      : period_(period), least_(least), most_(most) {}
  Time period() const override { return period_; }
  void add(std::span<const std::uint64_t> increments) override { sum_ += increments[0]; }
  void decide(std::uint64_t, std::vector<std::uint64_t>& values) override {
    values.push_back(std::clamp(std::exchange(sum_, 0), least_, most_));
  }
  void serialize(Archive& archive) override { archive(sum_); }

 private:
  const Time period_;
  const std::uint64_t least_, most_;
  std::uint64_t sum_ = 0;
};

/// Sends loads of its own choice for a while, and digests the answers with their times.
class Loads final : public Component {
 public:
  Loads(std::vector<Link> to_partitions, std::uint32_t number)
      : links_(std::move(to_partitions)), number_(number) {}

  Time next_activity() const override { return sent_ == 400 ? Time::never() : next_; }
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    for (const MessageHeader* message : inbox) {
      const auto& response = message->body<MemoryResponse>();
      digest_ = digest_ * 31 + response.tag * 7 + response.l2_hits +
                static_cast<std::uint64_t>(message->arrival.femtoseconds());
      ++answered_;
    }
    while (next_activity() < horizon) {
      MemoryRequest r;
      const std::uint32_t n = sent_ * 2654435761u + number_ * 40503u;
      r.line = (n >> 8) % 64 * line_bytes;
      r.sectors = 1;
      r.tag = sent_;
      r.pc = n % 40;
      r.requester = static_cast<std::uint16_t>(number_);
      outbox.send(links_[n % links_.size()], next_, kind_of(MessageKind::memory_request), r);
      ++sent_;
      next_ = next_ + Time{(5 + n % 23) * 1'000'000};
    }
  }
  void serialize(Archive& archive) override {
    archive.section("sm", 1);
    for (Link& link : links_) archive(link);
    archive(next_, sent_, answered_, digest_);
  }
  StatisticsView statistics(Time) override { return {}; }
  bool finished() const override { return answered_ == 400; }

  std::uint64_t digest() const { return digest_; }

 private:
  std::vector<Link> links_;
  const std::uint32_t number_;
  Time next_ = 1_ns;
  std::uint32_t sent_ = 0, answered_ = 0;
  std::uint64_t digest_ = 0;
};

/// Two senders, two partitions, a coordinator.
class World {
 public:
  World() {
    const KindId sender = graph.add_kind("sm"), partition = graph.add_kind("partition"),
                 coordinator = graph.add_kind("coordinator");
    for (int i = 0; i < 2; ++i) graph.add_component(sender);
    for (int i = 0; i < 2; ++i) graph.add_component(partition);
    graph.add_component(coordinator);
    for (std::uint32_t i = 0; i < 2; ++i)
      for (std::uint32_t p = 0; p < 2; ++p)
        to_partition[i][p] = graph.connect(ComponentId{i}, ComponentId{2 + p}, request_latency);
    for (std::uint32_t p = 0; p < 2; ++p)
      for (std::uint32_t i = 0; i < 2; ++i)
        to_sender[p][i] = graph.connect(ComponentId{2 + p}, ComponentId{i}, answer_latency);
    for (std::uint32_t p = 0; p < 2; ++p) {
      report[p] = graph.connect(ComponentId{2 + p}, ComponentId{4}, to_coordinator);
      decision[p] = graph.connect(ComponentId{4}, ComponentId{2 + p}, from_coordinator);
    }
  }

  ComponentFactory factory() {
    return [this](ComponentId id) -> std::unique_ptr<Component> {
      const std::uint32_t i = id.value();
      if (i < 2)
        return std::make_unique<Loads>(
            std::vector<Link>{graph.link(to_partition[i][0]), graph.link(to_partition[i][1])}, i);
      if (i < 4) return make_partition(i - 2);
      std::vector<Coordinator::Controller> controllers;
      controllers.push_back(
          {EpochTopic::cache_policy, std::make_unique<SumController>(period, 0, 30)});
      controllers.push_back(
          {EpochTopic::dram_scheduler, std::make_unique<SumController>(period * 2, 1, 6)});
      return std::make_unique<Coordinator>(
          std::move(controllers),
          std::vector<Link>{graph.link(decision[0]), graph.link(decision[1])});
    };
  }

  struct Outcome {
    std::map<std::uint32_t, std::uint64_t> digests;
    std::array<Told, 2> told;
    bool operator==(const Outcome&) const = default;
  };
  /// Runs on ranks and threads; at the n-th exchange, if asked to, saves and goes on with another
  /// engine.
  Outcome run(int ranks, int threads, Pacing pacing = Pacing::horizons, int leave_at = 0) {
    told = {};
    Outcome outcome;
    std::mutex mutex;
    EngineOptions options;
    options.threads = threads;
    options.epoch = 1_us;
    options.pacing = pacing;
    KeptParts saved;
    const auto go = [&](int n, int t, auto&& body) {
      options.threads = t;
      LoopbackRanks(n).run([&](Communicator& communicator) {
        Engine engine(graph, Assignment::spread(graph, n, t), factory(), communicator, options);
        body(engine);
      });
    };
    const auto finish = [&](Engine& engine) {
      if (leave_at != 0) {
        engine.restore(saved);
      }
      engine.run();
      const std::lock_guard lock(mutex);
      for (const LocalComponent& local : engine.components())
        if (local.id.value() < 2)
          outcome.digests[local.id.value()] = static_cast<const Loads&>(*local.component).digest();
    };
    if (leave_at != 0)
      go(2, 2, [&](Engine& engine) {
        EpochObserver observer;
        LeaveAt control(leave_at);
        engine.run(observer, control);
        EXPECT_TRUE(engine.save(engine.communicator().rank() == 0 ? &saved : nullptr));
      });
    go(ranks, threads, finish);
    outcome.told = told;
    return outcome;
  }

 private:
  class LeaveAt final : public RunControl {
   public:
    explicit LeaveAt(int exchange) : left_(exchange) {}
    unsigned requests() override { return --left_ == 0 ? 1 : 0; }
    bool agreed(unsigned) override { return false; }

   private:
    int left_;
  };

  std::unique_ptr<Component> make_partition(std::uint32_t p) {
    MemoryPartition::Setup setup;
    setup.parameters = small_memory();
    setup.parameters.l2.mshrs = 16;
    setup.noc = defaults<NocParameters>();
    setup.noc.credits = 4096;
    setup.index = PartitionId{0};
    setup.mapping = AddressMapping(AddressMapping::Kind::plain, 1);
    setup.tenants = 1;
    const std::vector<Link> links{graph.link(to_sender[p][0]), graph.link(to_sender[p][1])};
    setup.sources.add(SourceKind::sm, "sm", links, setup.noc.credits);
    setup.cache_policy = std::make_unique<CountsMisses>(told[p]);
    setup.replacement = replacement_named("lru");
    setup.dram_schedulers.push_back(std::make_unique<Limited>());
    PolicyEpochs::Periods periods{};
    periods[static_cast<std::size_t>(EpochTopic::cache_policy)] = period;
    periods[static_cast<std::size_t>(EpochTopic::dram_scheduler)] = period * 2;
    setup.epochs = PolicyEpochs(graph.link(report[p]), periods);
    return std::make_unique<MemoryPartition>(std::move(setup));
  }

  Graph graph;
  LinkId to_partition[2][2], to_sender[2][2], report[2], decision[2];
  std::array<Told, 2> told;  ///< each written by its partition alone
};

TEST(PolicyEpochs, ADecisionTakesEffectEverywhereAtOneTimeAfterTheEpoch) {
  const World::Outcome outcome = World().run(1, 1);
  ASSERT_GE(outcome.told[0].size(), 5u);
  EXPECT_EQ(outcome.told[0], outcome.told[1]);
  for (const auto& [at, threshold] : outcome.told[0]) {
    const Time reported = at - to_coordinator - from_coordinator;
    EXPECT_EQ(reported, period * (reported / period));
    EXPECT_LE(threshold, 30u);
  }
}

TEST(PolicyEpochs, NoEpochIsLeftOut) {
  const World::Outcome outcome = World().run(1, 1);
  ASSERT_GE(outcome.told[0].size(), 5u);
  for (std::size_t i = 1; i < 5; ++i)
    EXPECT_EQ(outcome.told[0][i].first - outcome.told[0][i - 1].first, period) << i;
}

TEST(PolicyEpochs, QuietPartitionsReportNothingAndAreToldNothing) {
  const World::Outcome outcome = World().run(1, 1);
  // The last loads are sent before 400 * 27 ns.
  EXPECT_LT(outcome.told[0].back().first, 15_us);
}

TEST(PolicyEpochs, AnyLayoutGivesTheSameBits) {
  const World::Outcome reference = World().run(1, 1, Pacing::one_activity);
  for (const int ranks : {1, 2, 3})
    for (const int threads : {1, 2}) {
      EXPECT_EQ(World().run(ranks, threads), reference) << ranks << ' ' << threads;
      EXPECT_EQ(World().run(ranks, threads, Pacing::random_cuts), reference)
          << ranks << ' ' << threads;
    }
}

TEST(PolicyEpochs, ARunGoesOnFromACheckpointAnywhere) {
  const World::Outcome reference = World().run(1, 1);
  for (const int exchange : {2, 5, 9, 14, 20, 40})
    EXPECT_EQ(World().run(2, 1, Pacing::horizons, exchange), reference) << exchange;
}

}  // namespace
}  // namespace lockstep::test::policy_epochs_test
