/// Epochs, idle time, the end of a run, requests from outside.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "core/engine/engine.hpp"
#include "tests/unit/core/engine/layouts.hpp"
#include "tests/unit/core/engine/scripted.hpp"

namespace lockstep::run_test {
namespace {

using namespace literals;
using test::Scripted;

/// Two components with a link each way.
class Run : public ::testing::Test {
 protected:
  Run() {
    const KindId kind = graph_.add_kind("unit");
    first_ = graph_.add_component(kind);
    second_ = graph_.add_component(kind);
    there_ = graph_.link(graph_.connect(first_, second_, 50_ns));
    back_ = graph_.link(graph_.connect(second_, first_, 70_ns));
    options_.epoch = 10_us;
  }
  RunSummary run(std::function<void(std::uint32_t, Scripted&)> prepare) {
    engine_.emplace(graph_, Assignment::spread(graph_, 1, options_.threads),
                    test::scripted(std::move(prepare)), self_, options_);
    return engine_->run(log_, control_);
  }
  Scripted& component(std::uint32_t id) {
    return static_cast<Scripted&>(*engine_->components()[id].component);
  }

  Graph graph_;
  ComponentId first_, second_;
  Link there_, back_;
  EngineOptions options_;
  SelfCommunicator self_;
  test::EpochLog log_;
  RunControl control_;
  std::optional<Engine> engine_;
};

TEST_F(Run, EndsAtTheFirstEpochAtWhichAllAreFinished) {
  bool done = false;
  const RunSummary summary = run([&](std::uint32_t id, Scripted& c) {
    if (id == 0) {
      c.at(25_us, [&](Time, Outbox&) { done = true; });
      c.finished_when([&] { return done; });
    }
  });
  EXPECT_TRUE(summary.finished);
  EXPECT_EQ(summary.end, 30_us);
  EXPECT_EQ(component(0).stands_at, 30_us);
  EXPECT_EQ(component(1).stands_at, 30_us);
}

TEST_F(Run, EndsAtTheStopTimeBetweenEpochs) {
  options_.stop_at = 12345_ns;
  const RunSummary summary = run([&](std::uint32_t, Scripted& c) {
    c.at(40_us, nullptr);
    c.finished_when([] { return false; });
  });
  EXPECT_EQ(summary.end, 12345_ns);
  EXPECT_EQ(log_.ends(), (std::vector<Time>{12345_ns}));
  EXPECT_EQ(component(1).stands_at, 12345_ns);
}

TEST_F(Run, ASecondOfIdleTimeCostsAFewWindows) {
  bool done = false;
  const RunSummary summary = run([&](std::uint32_t id, Scripted& c) {
    if (id != 0) return;
    c.at(1_us, nullptr);
    c.at(1000_ms, [&](Time, Outbox&) { done = true; });
    c.finished_when([&] { return done; });
  });
  EXPECT_EQ(summary.end, 1000_ms + 10_us);
  EXPECT_EQ(log_.ends(), (std::vector<Time>{10_us, 1000_ms + 10_us}));
  EXPECT_LE(summary.windows, 4u);
  EXPECT_LE(summary.exchanges, 10u);
  EXPECT_LE(component(0).calls, 6);
}

TEST_F(Run, AComponentWithNothingToDoIsNotCalled) {
  options_.stop_at = 9_us;
  bool done = false;
  run([&](std::uint32_t id, Scripted& c) {
    if (id != 0) return;
    for (int i = 1; i <= 8; ++i) c.at(Time{i * 1'000'000'000ll}, nullptr);
    c.finished_when([&] { return done; });
  });
  EXPECT_GE(component(0).calls, 2);
  EXPECT_EQ(component(1).calls, 1) << "only at the end, to stand there";
}

TEST_F(Run, MessagesArriveAfterTheLatencyOfTheLink) {
  std::vector<Time> arrivals;
  options_.stop_at = 5_us;
  run([&](std::uint32_t id, Scripted& c) {
    if (id == 0) {
      c.at(1_us, [&](Time now, Outbox& out) {
        out.send(there_, now, 1, std::uint64_t{1});
        out.send(there_, now + 3_us, 1, std::uint64_t{2});  // waits through many windows
      });
    } else {
      c.on_message([&](const MessageHeader& m) { arrivals.push_back(m.arrival); });
    }
  });
  EXPECT_EQ(arrivals, (std::vector<Time>{1050_ns, 4050_ns}));
}

TEST_F(Run, AnArrivalAtAnEpochBelongsToTheNextOne) {
  std::vector<Time> arrivals;
  options_.stop_at = 20_us;
  run([&](std::uint32_t id, Scripted& c) {
    c.finished_when([] { return false; });
    if (id == 0) {
      c.at(10_us - 50_ns,
           [&](Time now, Outbox& out) { out.send(there_, now, 1, std::uint64_t{}); });
    } else {
      c.on_message([&](const MessageHeader& m) {
        arrivals.push_back(m.arrival);
        EXPECT_EQ(log_.ends().size(), 1u);
      });
    }
  });
  EXPECT_EQ(arrivals, (std::vector<Time>{10_us}));
}

TEST_F(Run, EpochsAreSampledWithEveryComponentAtTheirEnd) {
  struct Observer final : EpochObserver {
    void prepare(std::span<const LocalComponent> components) override {
      looks.assign(components.size(), 0);
    }
    void look(Time end, std::size_t number, const LocalComponent& local) override {
      EXPECT_EQ(static_cast<Scripted&>(*local.component).stands_at, end);
      EXPECT_EQ(local.id.value(), number);
      ++looks[number];
    }
    std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override {
      for (const LocalComponent& local : components) {
        EXPECT_EQ(static_cast<Scripted&>(*local.component).stands_at, end);
      }
      EXPECT_EQ(looks, (std::vector<int>{1, 1}));
      return std::vector<std::byte>(components.size());
    }
    void collect(Time, std::span<const std::vector<std::byte>> parts) override {
      ASSERT_EQ(parts.size(), 1u);
      EXPECT_EQ(parts[0].size(), 2u);
      ++epochs;
    }
    int epochs = 0;
    std::vector<int> looks;
  } observer;
  options_.stop_at = 35_us;
  engine_.emplace(graph_, Assignment::spread(graph_, 1, 1),
                  test::scripted([](std::uint32_t, Scripted& c) {
                    for (int i = 0; i < 34; ++i) c.at(Time{i * 1'000'000'000ll}, nullptr);
                    c.finished_when([] { return false; });
                  }),
                  self_, options_);
  engine_->run(observer, control_);
  EXPECT_EQ(observer.epochs, 4);
}

TEST(RunRequests, AreAgreedByAllRanksAndLeaveTheRunTogether) {
  Graph graph;
  const KindId kind = graph.add_kind("unit");
  for (int i = 0; i < 3; ++i) graph.add_component(kind);
  for (std::uint32_t i = 0; i < 3; ++i)
    graph.connect(ComponentId{i}, ComponentId{(i + 1) % 3}, 1_us);
  struct Control final : RunControl {
    explicit Control(int rank) : rank_(rank) {}
    unsigned requests() override { return rank_ == 1 && ++asked_ == 5 ? 4u : 0u; }
    bool agreed(unsigned bits) override {
      seen |= bits;
      return false;
    }
    unsigned seen = 0;
    int rank_, asked_ = 0;
  };
  EngineOptions options;
  options.stop_at = 100_us;
  LoopbackRanks(3).run([&](Communicator& communicator) {
    Engine engine(graph, Assignment::spread(graph, 3, 1),
                  test::scripted([](std::uint32_t, Scripted& c) {
                    for (int i = 0; i < 100; ++i) c.at(Time{i * 1'000'000'000ll}, nullptr);
                    c.finished_when([] { return false; });
                  }),
                  communicator, options);
    EpochObserver observer;
    Control control(communicator.rank());
    EXPECT_FALSE(engine.run(observer, control).finished);
    EXPECT_EQ(control.seen, 4u);
    const RunSummary rest = engine.run(observer, control);
    EXPECT_TRUE(rest.finished);
    EXPECT_EQ(rest.end, 100_us);
  });
}

/// Until this thread has had a core for so long.
void work_for(std::int64_t nanoseconds) {
  const auto had = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  for (const std::int64_t end = had() + nanoseconds; had() < end;) {
  }
}

TEST_F(Run, TimeWithoutACoreIsNoCost) {
  options_.profile = true;
  options_.stop_at = 5_us;
  run([](std::uint32_t id, Scripted& c) {
    c.finished_when([] { return false; });
    c.at(1_us, [id](Time, Outbox&) {
      if (id == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (id == 1) work_for(3'000'000);
    });
  });
  const Profile& profile = engine_->profile();
  EXPECT_LE(profile.component_nanoseconds[0], 2'000'000u);
  EXPECT_GE(profile.component_nanoseconds[1], 2'500'000u);
  for (const WindowCost& cost : profile.costs) EXPECT_LE(cost.nanoseconds, 19'000'000u);
}

TEST_F(Run, ProfilesTellWhatEachComponentCost) {
  options_.profile = true;
  options_.stop_at = 5_us;
  run([](std::uint32_t id, Scripted& c) {
    c.finished_when([] { return false; });
    if (id == 1) return;
    c.at(1_us, [](Time, Outbox&) { work_for(2'000'000); });
  });
  const Profile& profile = engine_->profile();
  EXPECT_GE(profile.component_nanoseconds[0], 1'500'000u);
  EXPECT_LE(profile.component_nanoseconds[1], profile.component_nanoseconds[0]);
  ASSERT_FALSE(profile.costs.empty());
  EXPECT_EQ(profile.costs[0].component, 0u);
}

}  // namespace
}  // namespace lockstep::run_test
