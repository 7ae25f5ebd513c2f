/// Links that carry only answers do not bound windows while nobody waits for an answer.
#include <gtest/gtest.h>

#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/answer_receiver.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/outbox.hpp"
#include "core/exec/communicator.hpp"

namespace lockstep::test::answers_test {
namespace {

using namespace literals;
using Log = std::vector<std::pair<std::uint32_t, Time>>;

enum Kind : std::uint16_t { work, request, answer };

/// Notes when messages come, and answers requests.
class Noting : public Component {
 public:
  Noting(std::uint32_t id, Log& log) : id_(id), log_(log) {}

  Time next_activity() const override { return Time::never(); }
  void advance(Time, Inbox inbox, Outbox& outbox) override {
    for (const MessageHeader* message : inbox) take(*message, outbox);
  }
  void serialize(Archive&) override {}
  StatisticsView statistics(Time) override { return {}; }

 protected:
  virtual void take(const MessageHeader& message, Outbox&) {
    log_.emplace_back(id_, message.arrival);
  }

 private:
  const std::uint32_t id_;
  Log& log_;
};

class Server final : public Noting {
 public:
  Server(std::uint32_t id, Log& log, Link to_asker) : Noting(id, log), to_asker_(to_asker) {}

 private:
  void take(const MessageHeader& message, Outbox& outbox) override {
    Noting::take(message, outbox);
    if (message.kind == request) outbox.send(to_asker_, message.arrival, answer, std::uint64_t{0});
  }

  Link to_asker_;
};

/// Asks the server twice whenever it is told to; `honest`: says that it waits.
class Asker final : public Noting, public AnswerReceiver {
 public:
  Asker(std::uint32_t id, Log& log, Link to_server, bool honest)
      : Noting(id, log), to_server_(to_server), honest_(honest) {}
  bool awaits_answers() const override { return honest_ && asked_ > 0; }

 private:
  void take(const MessageHeader& message, Outbox& outbox) override {
    Noting::take(message, outbox);
    if (message.kind == answer) {
      --asked_;
      return;
    }
    asked_ += 2;
    outbox.send(to_server_, message.arrival, request, std::uint64_t{0});
    outbox.send(to_server_, message.arrival + 90_ns, request, std::uint64_t{0});
  }

  Link to_server_;
  const bool honest_;
  int asked_ = 0;
};

/// Gives the server work every 7 ns, and now and then tells the asker to ask.
class Source final : public Component {
 public:
  Source(Link to_server, Link to_asker) : to_server_(to_server), to_asker_(to_asker) {}

  Time next_activity() const override {
    return sent_ < 1000 ? Time{7'000'000} * sent_ : Time::never();
  }
  void advance(Time horizon, Inbox, Outbox& outbox) override {
    for (Time now = next_activity(); now < horizon; now = next_activity()) {
      outbox.send(sent_ % 300 == 17 ? to_asker_ : to_server_, now, work, std::uint64_t{0});
      ++sent_;
    }
  }
  void serialize(Archive&) override {}
  StatisticsView statistics(Time) override { return {}; }

 private:
  Link to_server_, to_asker_;
  std::int64_t sent_ = 0;
};

struct Outcome {
  Log log;
  std::uint64_t windows = 0;
};

Outcome run(Graph::Carries carries, bool honest = true) {
  Graph graph;
  const ComponentId source = graph.add_component(graph.add_kind("source"));
  const ComponentId server = graph.add_component(graph.add_kind("server"));
  const ComponentId asker = graph.add_component(graph.add_kind("asker"));
  const Link to_server = graph.link(graph.connect(source, server, 100_ns));
  const Link to_asker = graph.link(graph.connect(source, asker, 100_ns));
  graph.connect(server, source, 100_ns);
  const Link asks = graph.link(graph.connect(asker, server, 10_ns));
  const Link answers = graph.link(graph.connect(server, asker, 10_ns, 1, carries));
  Outcome outcome;
  const auto make = [&](ComponentId id) -> std::unique_ptr<Component> {
    if (id == source) return std::make_unique<Source>(to_server, to_asker);
    if (id == server) return std::make_unique<Server>(id.value(), outcome.log, answers);
    return std::make_unique<Asker>(id.value(), outcome.log, asks, honest);
  };
  SelfCommunicator self;
  Engine engine(graph, Assignment::spread(graph, 1, 1), make, self, {});
  outcome.windows = engine.run().windows;
  // The order within a window is that of the components.
  std::stable_sort(outcome.log.begin(), outcome.log.end());
  return outcome;
}

TEST(Answers, WindowsAreLongerWhileNobodyWaitsForThem) {
  const Outcome anything = run(Graph::Carries::anything), answers = run(Graph::Carries::answers);
  EXPECT_EQ(answers.log, anything.log);
  EXPECT_LT(2 * answers.windows, anything.windows);
}

TEST(Answers, AComponentThatDeniesItsRequestsGetsThemLate) {
  EXPECT_THROW(run(Graph::Carries::answers, false), RunError);
}

}  // namespace
}  // namespace lockstep::test::answers_test
