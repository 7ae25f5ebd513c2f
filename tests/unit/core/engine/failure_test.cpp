/// How a run fails: one message, on one rank, and never a hang.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "core/engine/engine.hpp"
#include "core/error/error.hpp"
#include "core/exec/loopback_ranks.hpp"
#include "tests/unit/core/engine/scripted.hpp"

namespace lockstep::failure_test {
namespace {

using namespace literals;
using test::Scripted;

Graph ring(std::uint32_t size) {
  Graph graph;
  const KindId kind = graph.add_kind("unit");
  for (std::uint32_t i = 0; i < size; ++i) graph.add_component(kind);
  for (std::uint32_t i = 0; i < size; ++i) {
    graph.connect(ComponentId{i}, ComponentId{(i + 1) % size}, 100_ns);
  }
  return graph;
}

/// The messages by rank; "" for a rank that fell silent because of another.
std::vector<std::string> messages(const Graph& graph, int ranks, EngineOptions options,
                                  std::function<void(std::uint32_t, Scripted&)> prepare) {
  std::vector<std::string> result(static_cast<std::size_t>(ranks), "no failure");
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    std::string& text = result[static_cast<std::size_t>(communicator.rank())];
    try {
      Engine engine(graph, Assignment::spread(graph, ranks, options.threads),
                    test::scripted(prepare), communicator, options);
      engine.run();
    } catch (const StoppedElsewhere&) {
      text = "";
    } catch (const std::exception& error) {
      text = error.what();
    }
  });
  return result;
}

TEST(Failure, NamesComponentAndSimulatedTime) {
  const auto text = messages(ring(4), 1, {}, [](std::uint32_t id, Scripted& c) {
    if (id == 3) c.at(12480_ns, [](Time, Outbox&) { throw std::runtime_error("broken"); });
  });
  EXPECT_EQ(text[0], "error in unit[3] at 12.480 us: broken");
}

TEST(Failure, OfABugSaysSo) {
  const auto text = messages(ring(2), 1, {}, [](std::uint32_t id, Scripted& c) {
    if (id == 0) c.at(1_us, [](Time, Outbox&) { throw InternalError("queue overflow"); });
  });
  EXPECT_EQ(text[0], "internal error in unit[0] at 1.000 us: queue overflow");
}

TEST(Failure, OfAUserKeepsItsOwnText) {
  const auto text = messages(ring(2), 2, {}, [](std::uint32_t id, Scripted& c) {
    if (id == 1) c.at(1_us, [](Time, Outbox&) { throw UserError("a.yaml:3:1", "bad", "fix it"); });
  });
  EXPECT_EQ(text[1], "a.yaml:3:1: bad - fix it");
  EXPECT_EQ(text[0], "");
}

TEST(Failure, OnOneRankStopsAllAndOnlyOneSpeaks) {
  const auto text = messages(ring(6), 3, {}, [](std::uint32_t id, Scripted& c) {
    c.finished_when([] { return false; });
    for (int i = 0; i < 100; ++i) c.at(Time{i * 1'000'000'000ll}, nullptr);
    if (id == 5) c.at(7_us, [](Time, Outbox&) { throw std::runtime_error("broken"); });
  });
  EXPECT_EQ(text[2], "error on rank 2 in unit[5] at 7.000 us: broken");
  EXPECT_EQ(text[0], "");
  EXPECT_EQ(text[1], "");
}

TEST(Failure, OfTwoRanksAtOnceIsReportedByOne) {
  const auto text = messages(ring(4), 4, {}, [](std::uint32_t id, Scripted& c) {
    if (id >= 2) c.at(1_us, [](Time, Outbox&) { throw std::runtime_error("broken"); });
  });
  EXPECT_EQ(text, (std::vector<std::string>{"", "",
                                            "error on rank 2 in unit[2] at 1.000 us: broken", ""}));
}

TEST(Failure, OnAnyThreadIsTheSameMessage) {
  for (int threads = 1; threads <= 4; ++threads) {
    EngineOptions options;
    options.threads = threads;
    const auto text = messages(ring(40), 1, options, [](std::uint32_t id, Scripted& c) {
      c.finished_when([] { return false; });
      for (int i = 0; i < 50; ++i) c.at(Time{i * 50'000'000ll}, nullptr);
      if (id % 7 == 5) c.at(1_us, [](Time, Outbox&) { throw std::runtime_error("broken"); });
    });
    EXPECT_EQ(text[0], "error in unit[5] at 1.000 us: broken") << threads;
  }
}

TEST(Failure, WhileBuildingStopsAllRanks) {
  const Graph graph = ring(3);
  int spoke = 0, silent = 0;
  std::mutex mutex;
  LoopbackRanks(3).run([&](Communicator& communicator) {
    try {
      Engine engine(graph, Assignment::spread(graph, 3, 1),
                    [](ComponentId id) -> std::unique_ptr<Component> {
                      if (id.value() == 1) throw UserError("", "no such kernel", "name another");
                      return std::make_unique<Scripted>();
                    },
                    communicator, {});
    } catch (const UserError&) {
      const std::lock_guard lock(mutex);
      ++spoke;
    } catch (const StoppedElsewhere&) {
      const std::lock_guard lock(mutex);
      ++silent;
    }
  });
  EXPECT_EQ(spoke, 1);
  EXPECT_EQ(silent, 2);
}

TEST(Failure, OfTheEpochWriterStopsAllRanks) {
  struct FullDisk final : EpochObserver {
    void collect(Time, std::span<const std::vector<std::byte>>) override {
      throw UserError("run.h5", "cannot write", "free some space");
    }
  };
  const Graph graph = ring(2);
  std::vector<std::string> text(2);
  LoopbackRanks(2).run([&](Communicator& communicator) {
    Engine engine(graph, Assignment::spread(graph, 2, 1),
                  test::scripted([](std::uint32_t, Scripted& c) { c.at(1_us, nullptr); }),
                  communicator, {});
    FullDisk observer;
    RunControl control;
    try {
      engine.run(observer, control);
    } catch (const std::exception& error) {
      text[static_cast<std::size_t>(communicator.rank())] = error.what();
    }
  });
  EXPECT_EQ(text[0], "run.h5: cannot write - free some space");
  EXPECT_EQ(text[1], "another rank failed");
}

/// Runs two components that act once, and returns with what the observer of their epoch ends the
/// run.
std::string failure_under(EpochObserver& observer) {
  const Graph graph = ring(2);
  SelfCommunicator alone;
  Engine engine(graph, Assignment::spread(graph, 1, 1),
                test::scripted([](std::uint32_t, Scripted& c) { c.at(1_us, nullptr); }), alone, {});
  RunControl control;
  try {
    engine.run(observer, control);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Failure, OfALookAtTheEndOfAnEpochNamesTheComponent) {
  struct Broken final : EpochObserver {
    void look(Time, std::size_t number, const LocalComponent&) override {
      if (number == 1) throw InternalError("has no counters");
    }
  };
  Broken observer;
  const std::string text = failure_under(observer);
  EXPECT_NE(text.find("internal error in unit[1] at"), std::string::npos) << text;
  EXPECT_NE(text.find("has no counters"), std::string::npos) << text;
}

TEST(Failure, OfThePreparationOfAnEpochLeavesComponentsUnseen) {
  struct Unprepared final : EpochObserver {
    void prepare(std::span<const LocalComponent>) override { throw InternalError("no places"); }
    void look(Time, std::size_t, const LocalComponent&) override { ++looks; }
    std::atomic<int> looks = 0;
  };
  Unprepared observer;
  const std::string text = failure_under(observer);
  EXPECT_NE(text.find("no places"), std::string::npos) << text;
  EXPECT_EQ(observer.looks, 0);
}

TEST(Failure, OfALateMessageNamesTheReceiver) {
  const Graph graph = ring(2);
  Link link = graph.link(LinkId{0});
  const auto text = messages(graph, 1, {}, [&](std::uint32_t id, Scripted& c) {
    c.finished_when([] { return false; });
    for (int i = 0; i < 10; ++i) c.at(Time{i * 1'000'000'000ll}, nullptr);
    if (id == 0) {
      c.at(5500_ns, [&](Time now, Outbox& out) { out.send(link, now - 4_us, 0, std::uint64_t{}); });
    }
  });
  EXPECT_NE(text[0].find("internal error in unit[1] at"), std::string::npos) << text[0];
  EXPECT_NE(
      text[0].find("a message from unit[0] arrives at 1.600 us, but its receiver stands at 5."),
      std::string::npos)
      << text[0];
}

TEST(Failure, OfAComponentThatDoesNotAdvanceIsCaught) {
  struct Lazy final : Component {
    Time next_activity() const override { return 1_us; }
    void advance(Time, Inbox, Outbox&) override {}
    void serialize(Archive&) override {}
    StatisticsView statistics(Time) override { return {}; }
  };
  const Graph graph = ring(1);
  SelfCommunicator self;
  Engine engine(graph, Assignment::spread(graph, 1, 1),
                [](ComponentId) { return std::make_unique<Lazy>(); }, self, {});
  EXPECT_THROW(engine.run(), RunError);
}

TEST(Stall, ListsWhatWaitsForWhat) {
  for (int ranks : {1, 3}) {
    const auto text = messages(ring(6), ranks, {}, [](std::uint32_t id, Scripted& c) {
      c.at(1_us, nullptr);
      if (id == 2) {
        c.finished_when([] { return false; });
        c.waits_for("a fill of line 0x80 held by unit[4]");
      }
      if (id == 4) c.waits_for("a credit of unit[2]");
    });
    EXPECT_EQ(text[0],
              "stalled at 10.000 us: no component will ever act again, but some are not finished\n"
              "  unit[2]: a fill of line 0x80 held by unit[4]\n"
              "  unit[4]: a credit of unit[2]");
    for (int rank = 1; rank < ranks; ++rank) EXPECT_EQ(text[static_cast<std::size_t>(rank)], "");
  }
}

TEST(Stall, OfAMachineThatNeverStartsIsReported) {
  const auto text = messages(
      ring(2), 1, {}, [](std::uint32_t, Scripted& c) { c.finished_when([] { return false; }); });
  EXPECT_NE(text[0].find("stalled at 0 fs"), std::string::npos) << text[0];
}

/// Wants to know what all wait for at 30 us, and at 50 us ends the run.
struct Asking final : EpochObserver {
  std::vector<std::string> told;
  Time now;

  void collect(Time end, std::span<const std::vector<std::byte>>) override { now = end; }
  bool wants_account() const override { return now == 30_us || now == 50_us; }
  void account(Time end, const std::string& waiting) override {
    told.push_back(waiting);
    if (end == 50_us) throw RunError("enough of" + waiting);
  }
};

TEST(Account, IsGivenInTheOrderOfComponentsOnAnyRanks) {
  const Graph graph = ring(6);
  for (const int ranks : {1, 2, 3}) {
    std::vector<std::string> ends(static_cast<std::size_t>(ranks));
    LoopbackRanks(ranks).run([&](Communicator& communicator) {
      std::string& end = ends[static_cast<std::size_t>(communicator.rank())];
      Engine engine(graph, Assignment::spread(graph, ranks, 1),
                    test::scripted([](std::uint32_t id, Scripted& c) {
                      c.finished_when([] { return false; });
                      for (int i = 0; i < 10; ++i) c.at(Time{i * 10'000'000'000ll}, nullptr);
                      c.waits_for("number " + std::to_string(id));
                    }),
                    communicator, {});
      Asking observer;
      RunControl control;
      try {
        engine.run(observer, control);
      } catch (const StoppedElsewhere&) {
        end = "elsewhere";
      } catch (const RunError& error) {
        end = error.what();
      }
      if (communicator.rank() == 0) {
        EXPECT_EQ(observer.told.size(), 2u);
      }
    });
    std::string all;
    for (int id = 0; id < 6; ++id)
      all += "\n  unit[" + std::to_string(id) + "]: number " + std::to_string(id);
    EXPECT_EQ(ends[0], "enough of" + all);
    for (int rank = 1; rank < ranks; ++rank)
      EXPECT_EQ(ends[static_cast<std::size_t>(rank)], "elsewhere");
  }
}

}  // namespace
}  // namespace lockstep::failure_test
