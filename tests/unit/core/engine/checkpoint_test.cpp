/// A run saved between two windows and restored on any layout ends as if nothing had happened.
#include <gtest/gtest.h>

#include <optional>

#include "tests/harness/kept_parts.hpp"
#include "tests/unit/core/engine/layouts.hpp"
#include "tests/unit/core/engine/random_machine.hpp"
#include "tests/unit/core/engine/scripted.hpp"

namespace lockstep::checkpoint_test {
namespace {

using namespace literals;

/// Leaves the run at its n-th exchange.
class LeaveAt final : public RunControl {
 public:
  explicit LeaveAt(int exchange) : left_(exchange) {}
  unsigned requests() override { return --left_ == 0 ? 1 : 0; }
  bool agreed(unsigned) override { return false; }

 private:
  int left_;
};

struct Machine {
  Graph graph;
  ComponentFactory factory;
  test::Digest digest;
  EngineOptions options;
};

KeptParts saved_after(const Machine& machine, int exchanges, int ranks, int threads) {
  EngineOptions options = machine.options;
  options.threads = threads;
  options.pacing = Pacing::random_cuts;
  KeptParts kept;
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    Engine engine(machine.graph, Assignment::spread(machine.graph, ranks, threads), machine.factory,
                  communicator, options);
    EpochObserver observer;
    LeaveAt control(exchanges);
    engine.run(observer, control);
    EXPECT_TRUE(engine.save(communicator.rank() == 0 ? &kept : nullptr));
  });
  return kept;
}

std::map<std::uint32_t, std::uint64_t> resumed(const Machine& machine, KeptParts saved, int ranks,
                                               int threads) {
  EngineOptions options = machine.options;
  options.threads = threads;
  std::map<std::uint32_t, std::uint64_t> digests;
  std::mutex mutex;
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    Engine engine(machine.graph, Assignment::spread(machine.graph, ranks, threads), machine.factory,
                  communicator, options);
    engine.restore(saved);
    engine.run();
    const std::lock_guard lock(mutex);
    for (const LocalComponent& local : engine.components()) {
      digests[local.id.value()] = machine.digest(*local.component);
    }
  });
  return digests;
}

void expect_resumable(const Machine& machine, int exchanges) {
  const test::Outcome whole =
      test::run_layout(machine.graph, machine.factory, 1, machine.options, machine.digest);
  const KeptParts saved = saved_after(machine, exchanges, 2, 2);
  EXPECT_EQ(resumed(machine, saved, 1, 1), whole.digests) << "after " << exchanges;
  EXPECT_EQ(resumed(machine, saved, 3, 2), whole.digests) << "after " << exchanges;
}

TEST(EngineCheckpoint, ResumesPholdOnAnyLayout) {
  phold::Parameters parameters;
  parameters.components = 24;
  Machine machine;
  machine.graph = phold::graph(parameters);
  machine.factory = phold::factory(parameters);
  machine.digest = [](const Component& c) { return static_cast<const phold::Holder&>(c).digest(); };
  machine.options.epoch = 10_ns;
  machine.options.stop_at = 100_ns;
  for (const int exchanges : {1, 2, 20, 60}) expect_resumable(machine, exchanges);
}

/// A component that does nothing before 48 us, in epochs of 10 us.
TEST(EngineCheckpoint, AStopTimeThatHoldsNoMoreIsNoBoundary) {
  Machine machine;
  const KindId kind = machine.graph.add_kind("unit");
  const ComponentId first = machine.graph.add_component(kind);
  const ComponentId second = machine.graph.add_component(kind);
  machine.graph.connect(first, second, 50_ns);
  machine.graph.connect(second, first, 50_ns);
  bool done = false;
  machine.factory = test::scripted([&](std::uint32_t id, test::Scripted& component) {
    if (id == 0) component.at(48_us, [&](Time, Outbox&) { done = true; });
    component.finished_when([&] { return done; });
  });
  machine.options.epoch = 10_us;
  machine.options.stop_at = 30_us;
  const KeptParts saved = saved_after(machine, 2, 1, 1);
  machine.options.stop_at = Time::never();
  SelfCommunicator self;
  Engine engine(machine.graph, Assignment::spread(machine.graph, 1, 1), machine.factory, self,
                machine.options);
  KeptParts kept = saved;
  engine.restore(kept);
  test::EpochLog log;
  RunControl control;
  engine.run(log, control);
  EXPECT_EQ(log.ends(), (std::vector<Time>{50_us}));
}

/// A machine of random components and links; none if the dice give fewer than four components.
std::optional<Machine> random_machine(std::uint64_t seed, Random& random) {
  Machine machine;
  machine.graph = test::random_graph(random);
  if (machine.graph.nodes().size() < 4) return std::nullopt;
  machine.factory = [graph = machine.graph, seed](ComponentId id) {
    return std::make_unique<test::Wanderer>(graph, id, seed);
  };
  machine.digest = [](const Component& c) {
    return static_cast<const test::Wanderer&>(c).digest();
  };
  machine.options.epoch = Time{5000};
  machine.options.stop_at = Time{20000};
  return machine;
}

TEST(EngineCheckpoint, KeepsMessagesOnTheirWay) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, ComponentId{0}, 5);
    if (const auto machine = random_machine(seed, random))
      expect_resumable(*machine, 4 + static_cast<int>(random.below(30)));
  }
}

/// Leaves a run at an exchange, and goes on with the second call.
class LeftAt final : public RunControl {
 public:
  explicit LeftAt(int exchange) : left_(exchange) {}
  unsigned requests() override { return --left_ == 0 ? 1 : 0; }
  bool agreed(unsigned) override { return false; }

 private:
  int left_;
};

/// Left at each of many exchanges, sampled there, and gone on with: the result is as ever.
TEST(EngineCheckpoint, CatchingUpSamplesAllAtOneTimeAndChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, ComponentId{0}, 6);
    const auto machine = random_machine(seed, random);
    if (!machine) continue;
    const test::Outcome whole =
        test::run_layout(machine->graph, machine->factory, 1, machine->options, machine->digest);
    const int exchange = 2 + static_cast<int>(random.below(30));
    for (const int ranks : {1, 3}) {
      std::map<std::uint32_t, std::uint64_t> digests;
      std::mutex mutex;
      LoopbackRanks(ranks).run([&](Communicator& communicator) {
        Engine engine(machine->graph, Assignment::spread(machine->graph, ranks, 1),
                      machine->factory, communicator, machine->options);
        test::EpochLog log;
        LeftAt control(exchange);
        if (!engine.run(log, control).finished) {
          const std::size_t before = log.ends().size();
          const Time time = engine.catch_up(log);
          if (communicator.rank() == 0 && time > Time::zero()) {
            EXPECT_EQ(log.ends().size(), before + 1);
            EXPECT_EQ(log.ends().back(), time);
            EXPECT_LE(time, machine->options.stop_at);
            EXPECT_GE(time, before > 0 ? log.ends()[before - 1] : Time::zero());
          }
          engine.run(log, control);
        }
        const std::lock_guard lock(mutex);
        for (const LocalComponent& local : engine.components())
          digests[local.id.value()] = machine->digest(*local.component);
      });
      EXPECT_EQ(digests, whole.digests) << ranks << " ranks, left at " << exchange;
    }
  }
}

KeptParts saved_at_the_end(const Machine& machine, int ranks, int threads) {
  EngineOptions options = machine.options;
  options.threads = threads;
  KeptParts kept;
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    Engine engine(machine.graph, Assignment::spread(machine.graph, ranks, threads), machine.factory,
                  communicator, options);
    engine.run();
    EXPECT_TRUE(engine.save(communicator.rank() == 0 ? &kept : nullptr));
  });
  return kept;
}

TEST(EngineCheckpoint, HoldsTheSameBytesWhateverTheLayout) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, ComponentId{0}, 5);
    const auto machine = random_machine(seed, random);
    if (!machine) continue;
    const KeptParts alone = saved_at_the_end(*machine, 1, 1);
    EXPECT_TRUE(saved_at_the_end(*machine, 2, 2) == alone);
    EXPECT_TRUE(saved_at_the_end(*machine, 3, 1) == alone);
  }
}

}  // namespace
}  // namespace lockstep::checkpoint_test
