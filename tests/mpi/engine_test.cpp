/// The engine on real MPI ranks: the same state as one thread, large messages, failures that end
/// every rank.  Run by mpirun; see tests/mpi/ranks.cmake.
#include "core/engine/engine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "core/exec/mpi_communicator.hpp"
#include "tests/harness/kept_parts.hpp"
#include "tests/unit/core/engine/phold.hpp"
#include "tests/unit/core/engine/random_machine.hpp"
#include "tests/unit/core/engine/scripted.hpp"

namespace lockstep {
namespace {

using namespace literals;

Communicator* world = nullptr;
int threads_per_rank = 1;

using Digests = std::map<std::uint32_t, std::uint64_t>;

template <class Model>
Digests run(const Graph& graph, const ComponentFactory& factory, Communicator& communicator,
            EngineOptions options) {
  Engine engine(graph, Assignment::spread(graph, communicator.size(), options.threads), factory,
                communicator, options);
  engine.run();
  Digests digests;
  for (const LocalComponent& local : engine.components()) {
    digests[local.id.value()] = static_cast<const Model&>(*local.component).digest();
  }
  return digests;
}

/// This rank's components must be as in a run on one thread.
template <class Model>
void expect_same_as_alone(const Graph& graph, const ComponentFactory& factory,
                          EngineOptions options) {
  SelfCommunicator self;
  options.threads = 1;
  const Digests alone = run<Model>(graph, factory, self, options);
  options.threads = threads_per_rank;
  const Digests together = run<Model>(graph, factory, *world, options);
  for (const auto& [id, digest] : together) EXPECT_EQ(digest, alone.at(id)) << "component " << id;
}

TEST(MpiEngine, PholdEndsAsOnOneThread) {
  phold::Parameters parameters;
  parameters.components = 200;
  EngineOptions options;
  options.epoch = 20_ns;
  options.stop_at = 100_ns;
  expect_same_as_alone<phold::Holder>(phold::graph(parameters), phold::factory(parameters),
                                      options);
}

TEST(MpiEngine, RandomMachinesEndAsOnOneThread) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, ComponentId{0}, 3);
    const Graph graph = test::random_graph(random);
    EngineOptions options;
    options.epoch = Time{7000};
    options.stop_at = Time{30000};
    expect_same_as_alone<test::Wanderer>(
        graph, [&](ComponentId id) { return std::make_unique<test::Wanderer>(graph, id, seed); },
        options);
  }
}

/// What rank 0 writes of a machine of random components that has come to its end.
KeptParts saved(std::uint64_t seed, Communicator& communicator, int threads) {
  Random random(seed, ComponentId{0}, 3);
  const Graph graph = test::random_graph(random);
  EngineOptions options;
  options.threads = threads;
  options.epoch = Time{7000};
  options.stop_at = Time{30000};
  Engine engine(
      graph, Assignment::spread(graph, communicator.size(), threads),
      [&](ComponentId id) { return std::make_unique<test::Wanderer>(graph, id, seed); },
      communicator, options);
  engine.run();
  KeptParts kept;
  EXPECT_TRUE(engine.save(communicator.rank() == 0 ? &kept : nullptr));
  return kept;
}

TEST(MpiEngine, ACheckpointHoldsTheSameBytesAsOnOneThread) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SelfCommunicator self;
    const KeptParts alone = saved(seed, self, 1);
    const KeptParts together = saved(seed, *world, threads_per_rank);
    if (world->rank() != 0) continue;
    EXPECT_TRUE(together == alone) << "seed " << seed;
  }
}

TEST(MpiEngine, CarriesMessagesOfManySizes) {
  Graph graph;
  const KindId kind = graph.add_kind("unit");
  const auto size = static_cast<std::uint32_t>(world->size());
  for (std::uint32_t i = 0; i < 2 * size; ++i) graph.add_component(kind);
  const ComponentId source{0};
  const ComponentId target{2 * size - 1};
  Link link = graph.link(graph.connect(source, target, 100_ns));
  std::size_t received = 0;
  EngineOptions options;
  options.stop_at = 20_us;
  const std::vector<std::size_t> sizes{0,    1,      3800,   3900,    3968,
                                       4096, 64'000, 65'536, 100'000, 5'000'000};
  Engine engine(graph, Assignment::spread(graph, world->size(), 1),
                test::scripted([&](std::uint32_t id, test::Scripted& c) {
                  c.finished_when([] { return false; });
                  for (std::size_t i = 0; i < sizes.size() && id == 0; ++i) {
                    c.at(Time{1'000'000'000} * static_cast<std::int64_t>(i + 1),
                         [&, i](Time now, Outbox& o) {
                           o.send(link, now, 0, std::uint64_t{i},
                                  std::vector<std::byte>(sizes[i], static_cast<std::byte>(i + 1)));
                         });
                  }
                  c.on_message([&](const MessageHeader& m) {
                    const std::uint64_t i = m.body<std::uint64_t>();
                    EXPECT_EQ(i, received++);
                    EXPECT_EQ(m.payload_bytes, sizes[i]);
                    for (const std::byte b : m.payload())
                      ASSERT_EQ(b, static_cast<std::byte>(i + 1));
                  });
                }),
                *world, options);
  engine.run();
  EXPECT_EQ(received, world->rank() + 1 == world->size() ? sizes.size() : 0u);
}

TEST(MpiEngine, AFailureEndsEveryRankWithOneMessage) {
  Graph graph;
  const KindId kind = graph.add_kind("unit");
  const auto size = static_cast<std::uint32_t>(world->size());
  for (std::uint32_t i = 0; i < size; ++i) graph.add_component(kind);
  for (std::uint32_t i = 0; i < size; ++i) {
    graph.connect(ComponentId{i}, ComponentId{(i + 1) % size}, 100_ns);
  }
  Engine engine(graph, Assignment::spread(graph, world->size(), 1),
                test::scripted([&](std::uint32_t id, test::Scripted& c) {
                  c.finished_when([] { return false; });
                  for (int i = 0; i < 100; ++i) c.at(1_us * i, nullptr);
                  if (id + 1 == size) {
                    c.at(5500_ns, [](Time, Outbox&) { throw std::runtime_error("broken"); });
                  }
                }),
                *world, {});
  if (world->rank() + 1 == world->size()) {
    EXPECT_THROW(engine.run(), RunError);
  } else {
    EXPECT_THROW(engine.run(), StoppedElsewhere);
  }
}

TEST(MpiCommunicator, SendsAnyLengthFromOneRankToAnother) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5'000'000}}) {
    for (int from = 1; from < world->size(); ++from) {
      const Communicator::Bytes bytes(size, static_cast<std::byte>(from));
      if (world->rank() == from) world->send(0, bytes);
      if (world->rank() == 0) {
        EXPECT_TRUE(world->receive(from) == bytes);
      }
    }
  }
}

TEST(MpiCommunicator, GathersOnRankZero) {
  const Communicator::Bytes mine(static_cast<std::size_t>(world->rank()) * 100'000,
                                 static_cast<std::byte>(world->rank()));
  const auto all = world->gather(mine);
  if (world->rank() != 0) {
    EXPECT_TRUE(all.empty());
    return;
  }
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world->size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], Communicator::Bytes(i * 100'000, static_cast<std::byte>(i)));
  }
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  lockstep::MpiSession session(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.rfind("--threads=", 0) == 0) {
      lockstep::threads_per_rank = std::atoi(option.c_str() + 10);
    }
  }
  lockstep::world = &session.communicator();
  std::vector<std::int64_t> passed{RUN_ALL_TESTS() == 0 ? 1 : 0};
  lockstep::world->minimum(passed);
  return passed[0] == 1 ? 0 : 1;
}
