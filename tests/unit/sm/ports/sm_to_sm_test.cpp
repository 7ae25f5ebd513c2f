/// A message from an SM to another one over a link: one more kind of destination of the request
/// port, with credits, an order and payloads like all others.
#include <gtest/gtest.h>

#include <cstring>

#include "core/engine/component.hpp"
#include "models/noc/topology.hpp"
#include "models/sm/ports/request_port.hpp"
#include "tests/unit/core/engine/layouts.hpp"

namespace lockstep::sm_to_sm_test {
namespace {

using namespace literals;

constexpr auto sms = static_cast<Destination::Kind>(2);
constexpr std::uint32_t words = 40, credits = 3;
constexpr Time interval = 5_ns;

/// Sends words to the SM opposite, in the other half, one every interval, and adds up what comes.
class TalkingSm final : public Component {
 public:
  TalkingSm(std::uint16_t number, std::uint16_t opposite, const std::vector<Link>& to_sms)
      : number_(number), opposite_{sms, opposite}, answers_(to_sms) {
    NocParameters noc = defaults<NocParameters>();
    noc.credits = credits;
    port_ = RequestPort({noc, {{sms, "sm", to_sms}}, words, 2_ns});
  }

  Time next_activity() const override {
    return sent_ < words ? interval * std::int64_t{sent_} : Time::never();
  }
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    auto message = inbox.begin();
    while (message != inbox.end() || next_activity() < horizon) {
      if (message != inbox.end() && (*message)->arrival <= next_activity()) {
        take(**message++, outbox);
      } else {
        say(next_activity(), outbox);
      }
    }
  }
  void serialize(Archive& archive) override {
    archive.section("talking sm", 1);
    archive(sent_, heard, sum, order_is_kept, last_);
    port_.serialize(archive);
    answers_.serialize(archive);
  }
  StatisticsView statistics(Time) override { return {}; }
  bool finished() const override { return heard == words && sent_ == words; }

  std::uint64_t heard = 0, sum = 0;
  bool order_is_kept = true;
  Time last_arrival;

 private:
  void say(Time now, Outbox& outbox) {
    ASSERT_TRUE(port_.accepts(opposite_));
    const std::uint64_t word = 1000u * number_ + sent_;
    const RequestPort::Place place = port_.send(opposite_, sizeof word, now, outbox);
    place.request.requester = number_;
    place.request.tag = sent_++;
    std::memcpy(place.payload, &word, sizeof word);
  }
  void take(const MessageHeader& message, Outbox& outbox) {
    last_arrival = message.arrival;
    if (message.kind == kind_of(MessageKind::memory_response))
      return port_.credit(opposite_, message.arrival, outbox);
    const auto& request = message.body<MemoryRequest>();
    std::uint64_t word;
    std::memcpy(&word, message.payload_data(), sizeof word);
    order_is_kept &= heard == 0 || word == last_ + 1;
    last_ = word;
    sum += word;
    ++heard;
    outbox.send(answers_[request.requester], message.arrival + 1_ns,
                kind_of(MessageKind::memory_response), answer_to(request));
  }

  const std::uint16_t number_;
  const Destination opposite_;
  RequestPort port_;
  Trunk answers_;
  std::uint32_t sent_ = 0;
  std::uint64_t last_ = 0;
};

struct SmsOfAGpu {
  static constexpr std::uint32_t count = 4;

  SmsOfAGpu() {
    const KindId kind = graph.add_kind("sm");
    for (std::uint32_t i = 0; i < count; ++i) graph.add_component(kind);
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t j = 0; j < count; ++j)
        links.push_back(graph.connect(ComponentId{i}, ComponentId{j}, 30_ns));
  }
  std::unique_ptr<Component> build(ComponentId id) const {
    std::vector<Link> to_sms;
    for (std::uint32_t j = 0; j < count; ++j)
      to_sms.push_back(graph.link(links[count * id.value() + j]));
    const auto opposite = static_cast<std::uint16_t>((id.value() + count / 2) % count);
    return std::make_unique<TalkingSm>(static_cast<std::uint16_t>(id.value()), opposite, to_sms);
  }

  Graph graph;
  std::vector<LinkId> links;
};

TEST(SmToSm, WordsArriveWholeAndInOrderInAnyLayout) {
  const SmsOfAGpu gpu;
  for (const int ranks : {1, 2, 3}) {
    for (const int threads : {1, 2}) {
      EngineOptions options;
      options.threads = threads;
      const test::Outcome outcome = test::run_layout(
          gpu.graph, [&](ComponentId id) { return gpu.build(id); }, ranks, options,
          [](const Component& component) {
            const auto& sm = static_cast<const TalkingSm&>(component);
            EXPECT_EQ(sm.heard, words);
            EXPECT_TRUE(sm.order_is_kept);
            return sm.sum * 1'000'000 + static_cast<std::uint64_t>(sm.last_arrival / 1_ns);
          });
      for (std::uint32_t i = 0; i < SmsOfAGpu::count; ++i) {
        const std::uint64_t opposite = (i + SmsOfAGpu::count / 2) % SmsOfAGpu::count;
        const std::uint64_t sum = words * 1000 * opposite + words * (words - 1) / 2;
        EXPECT_EQ(outcome.digests.at(i) / 1'000'000, sum) << i;
        EXPECT_EQ(outcome.digests.at(i) % 1'000'000, outcome.digests.at(0) % 1'000'000);
      }
    }
  }
}

TEST(SmToSm, TheyWaitForCredits) {
  const SmsOfAGpu gpu;
  // A round trip of 61 ns lets three words go; so all of them take a third of 40 round trips.
  const test::Outcome outcome = test::run_layout(
      gpu.graph, [&](ComponentId id) { return gpu.build(id); }, 1, EngineOptions{},
      [](const Component& component) {
        return static_cast<std::uint64_t>(static_cast<const TalkingSm&>(component).last_arrival /
                                          1_ns);
      });
  EXPECT_GT(outcome.digests.at(0), words / credits * 61);
  EXPECT_LT(outcome.digests.at(0), (words / credits + 3) * 70);
}

}  // namespace
}  // namespace lockstep::sm_to_sm_test
