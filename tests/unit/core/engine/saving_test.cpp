/// What Engine::save moves and writes, and how it and restore fail.
#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "core/checkpoint/parts.hpp"
#include "core/engine/engine.hpp"
#include "core/exec/loopback_ranks.hpp"
#include "tests/harness/kept_parts.hpp"
#include "tests/unit/core/engine/scripted.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::saving_test {
namespace {

/// What component `id` saves behind its section.
using State = std::function<void(std::uint32_t id, Archive&)>;

/// `sms` components that only have state, on the ranks of `communicator`.
struct Machine {
  Machine(std::uint32_t sms, State state, Communicator& communicator)
      : graph(graph_of(sms)),
        engine(
            graph, Assignment::spread(graph, communicator.size(), 1),
            test::scripted([state = std::move(state)](std::uint32_t id, test::Scripted& component) {
              component.keeps([state, id](Archive& archive) { state(id, archive); });
            }),
            communicator, {}) {}

  static Graph graph_of(std::uint32_t sms) {
    Graph result;
    const KindId kind = result.add_kind("sm");
    for (std::uint32_t i = 0; i < sms; ++i) result.add_component(kind);
    return result;
  }

  const Graph graph;
  Engine engine;
};

KeptParts saved(std::uint32_t sms, State state) {
  SelfCommunicator self;
  KeptParts kept;
  EXPECT_TRUE(Machine(sms, std::move(state), self).engine.save(&kept));
  return kept;
}
std::string refusal(std::uint32_t sms, State state, KeptParts kept) {
  SelfCommunicator self;
  return message_of([&] { Machine(sms, std::move(state), self).engine.restore(kept); });
}

void number(Archive& archive) {
  std::uint64_t value = 7;
  archive(value);
}

TEST(Restoring, APartOfAnotherVersionIsNamedWithItsComponent) {
  const KeptParts kept = saved(3, [](std::uint32_t, Archive& a) { a.section("sm/l1", 1); });
  EXPECT_EQ(refusal(
                3, [](std::uint32_t id, Archive& a) { a.section("sm/l1", 1 + id / 2); }, kept),
            "sm[2]: the checkpoint's \"sm/l1\" has version 1, this program reads 2 - resume with "
            "the program that wrote it");
}

TEST(Restoring, AComponentThatReadsLessThanWasSavedIsNamed) {
  const KeptParts kept = saved(3, [](std::uint32_t, Archive& a) { number(a); });
  const State reads_less = [](std::uint32_t id, Archive& a) {
    if (id != 1) number(a);
  };
  EXPECT_EQ(refusal(3, reads_less, kept),
            "sm[1]: the checkpoint holds more than this program reads - resume with the program "
            "that wrote it");
}

TEST(Restoring, ACheckpointOfAnotherMachineIsRefused) {
  const State state = [](std::uint32_t, Archive& a) { number(a); };
  EXPECT_EQ(
      refusal(4, state, saved(3, state)),
      "the checkpoint is of another machine - resume with the configuration it was taken with");
}

TEST(Restoring, ACheckpointThatWasCutIsRefused) {
  const State state = [](std::uint32_t, Archive& a) { number(a); };
  const KeptParts kept = saved(2, state);
  EXPECT_EQ(refusal(2, state, kept), "no error");
  for (const auto& [part, chunks] : kept.parts) {
    for (std::size_t length = 0; length < chunks.front().size(); ++length) {
      KeptParts cut = kept;
      cut.parts[part].front().resize(length);
      const std::string message = refusal(2, state, cut);
      EXPECT_NE(message.find("the checkpoint ends too early"), std::string::npos)
          << part << " after " << length << " bytes: " << message;
    }
  }
}

TEST(Saving, AComponentWithoutASectionIsCaught) {
  class Nameless final : public Component {
    Time next_activity() const override { return Time::never(); }
    void advance(Time, Inbox, Outbox&) override {}
    void serialize(Archive&) override {}
    StatisticsView statistics(Time) override { return {}; }
  };
  const Graph graph = Machine::graph_of(1);
  SelfCommunicator self;
  Engine engine(graph, Assignment::spread(graph, 1, 1),
                [](ComponentId) { return std::make_unique<Nameless>(); }, self, {});
  KeptParts kept;
  EXPECT_THROW(std::ignore = engine.save(&kept), InternalError);
}

/// Takes any number of bytes, and counts them.
class Counted final : public PartSink {
 public:
  std::size_t written = 0;
  void begin(const std::string&) override {}
  void write(std::span<const std::byte> chunk) override { written += chunk.size(); }
  void end() override {}
};

/// What the ranks of a run move.
struct Traffic {
  std::atomic<std::size_t> largest = 0, under_way = 0, most_under_way = 0, received = 0;
  Counted file;
};

/// Watches a rank's messages.
class Watched final : public Communicator {
 public:
  Watched(Communicator& inside, Traffic& traffic) : inside_(inside), traffic_(traffic) {}
  int rank() const override { return inside_.rank(); }
  int size() const override { return inside_.size(); }
  void exchange(std::span<const int> neighbours, std::span<const Bytes> outgoing,
                std::span<Bytes> incoming) override {
    inside_.exchange(neighbours, outgoing, incoming);
  }
  void minimum(std::span<std::int64_t> values) override { inside_.minimum(values); }
  void send(int to, std::span<const std::byte> bytes) override {
    raise(traffic_.largest, bytes.size());
    raise(traffic_.most_under_way, traffic_.under_way += bytes.size());
    inside_.send(to, bytes);
    traffic_.under_way -= bytes.size();
  }
  Bytes receive(int from) override {
    EXPECT_GE(traffic_.file.written, traffic_.received)
        << "not written before the next is asked for";
    Bytes bytes = inside_.receive(from);
    traffic_.received += bytes.size();
    return bytes;
  }

 private:
  static void raise(std::atomic<std::size_t>& most, std::size_t value) {
    std::size_t before = most;
    while (before < value && !most.compare_exchange_weak(before, value)) {
    }
  }

  Communicator& inside_;
  Traffic& traffic_;
};

TEST(Saving, MovesOneChunkPerRankAtATimeHoweverLargeTheState) {
  constexpr std::size_t state_bytes = 5 * PartWriter::chunk_bytes + 100;
  constexpr std::size_t ranks = 3, sms = 6;
  Traffic traffic;
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    Watched watched(communicator, traffic);
    Machine machine(
        sms,
        [state = std::vector<std::byte>(state_bytes)](std::uint32_t, Archive& archive) mutable {
          archive(state);
        },
        watched);
    EXPECT_TRUE(machine.engine.save(communicator.rank() == 0 ? &traffic.file : nullptr));
  });
  EXPECT_GT(traffic.file.written, sms * state_bytes);
  EXPECT_GT(traffic.received, sms * state_bytes * (ranks - 1) / ranks);
  EXPECT_EQ(traffic.largest, PartWriter::chunk_bytes);
  EXPECT_LE(traffic.most_under_way, (ranks - 1) * PartWriter::chunk_bytes);
}

TEST(Saving, AComponentThatFailsIsToldOnItsRankAndStopsNoOther) {
  LoopbackRanks(3).run([&](Communicator& communicator) {
    Machine machine(
        6,
        [](std::uint32_t id, Archive&) {
          if (id == 2) throw std::runtime_error("broken");
        },
        communicator);
    KeptParts kept;
    PartSink* const sink = communicator.rank() == 0 ? &kept : nullptr;
    if (communicator.rank() == 1) {
      EXPECT_THROW(std::ignore = machine.engine.save(sink), std::runtime_error);
    } else {
      EXPECT_FALSE(machine.engine.save(sink));
    }
  });
}

/// Takes a number of calls, then fails and counts what comes nevertheless.
class Full final : public PartSink {
 public:
  explicit Full(int calls) : left_(calls) {}
  void begin(const std::string&) override { call(); }
  void write(std::span<const std::byte>) override { call(); }
  void end() override { call(); }
  int asked_again = 0;

 private:
  void call() {
    if (left_ < 0) ++asked_again;
    if (left_-- <= 0) throw UserError("disk", "is full", "free some space");
  }
  int left_;
};

TEST(Saving, AFileThatCannotBeWrittenIsToldByRankZero) {
  for (int calls = 0; calls < 15; ++calls) {
    LoopbackRanks(2).run([&](Communicator& communicator) {
      Machine machine(
          4, [](std::uint32_t, Archive& archive) { number(archive); }, communicator);
      Full full(calls);
      if (communicator.rank() == 0) {
        EXPECT_EQ(message_of([&] { std::ignore = machine.engine.save(&full); }),
                  "disk: is full - free some space");
        EXPECT_EQ(full.asked_again, 0);
      } else {
        EXPECT_FALSE(machine.engine.save(nullptr));
      }
    });
  }
}

}  // namespace
}  // namespace lockstep::saving_test
