/// The link does the same on its own as when it is asked at every line and every answer.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <tuple>

#include "tests/unit/host_link/host_link_bench.hpp"

namespace lockstep::test::host_link_run_test {
namespace {

/// What happened: lines with their times, and transfers with the times at which they ended.
struct Events {
  std::vector<std::tuple<Time, std::size_t, std::uint64_t>> lines;
  std::vector<std::pair<Time, std::uint64_t>> ended;
  bool operator==(const Events&) const = default;
};

class HostLinkRun : public HostLinkBench {
 protected:
  /// Serves all transfers in windows.  `alone`: the link does on its own what it can.
  Events serve(std::uint32_t lines_in_flight, bool alone) {
    HostLink link = make(lines_in_flight);
    Events events;
    std::multimap<Time, MemoryRequest> answers;
    for (std::uint64_t bytes : {300'000, 70'000, 128})
      for (const Kind kind : {Kind::to_gpu, Kind::to_host}) {
        MessageSink none(partitions);
        Transfer one = transfer(kind, bytes, static_cast<std::uint16_t>(bytes % 5), bytes);
        one.rank = bytes == 128 ? Class::fault : Class::copy;
        link.start(std::move(one), 0_ns, none.outbox());
      }
    for (Time horizon = 400_ns; !link.idle(); horizon = horizon + 400_ns)
      window(link, horizon, alone, answers, events);
    return events;
  }

 private:
  void window(HostLink& link, Time horizon, bool alone, std::multimap<Time, MemoryRequest>& answers,
              Events& events) {
    std::vector<std::unique_ptr<IncomingMessage>> messages;
    std::vector<const MessageHeader*> inbox;
    const std::array<std::byte, 128> data{};
    const auto end = answers.lower_bound(horizon);
    for (auto answer = answers.begin(); answer != end; ++answer) {
      const bool loads = answer->second.operation == MemoryOperation::load;
      messages.push_back(std::make_unique<IncomingMessage>(
          answer->first, kind_of(MessageKind::memory_response), answer_to(answer->second),
          std::span(data).first(loads ? sector_bytes * answer->second.sector_count() : 0)));
      inbox.push_back(messages.back()->get());
    }
    answers.erase(answers.begin(), end);
    MessageSink sink(partitions);
    for (std::size_t next = 0;;) {
      if (alone) next += link.run(Inbox(inbox).subspan(next), horizon, sink.outbox());
      const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
      if (std::min(arrival, link.next_activity()) >= horizon) break;
      if (arrival > link.next_activity()) {
        link.act(link.next_activity(), sink.outbox());
      } else if (const auto done = link.take(*inbox[next++])) {
        events.ended.emplace_back(arrival, done->owner.number);
      }
    }
    for (std::size_t p = 0; p < partitions; ++p)
      for (const MessageHeader* message : sink.to(p)) {
        const auto& request = message->body<MemoryRequest>();
        events.lines.emplace_back(message->arrival, p, request.line);
        // Answers of the two partitions come at equal times, and in another order than requests.
        answers.emplace(message->arrival + 600_ns + Time{1'000'000} * (request.line / 128 % 7),
                        request);
      }
  }
};

TEST_F(HostLinkRun, DoesTheSameOnItsOwn) {
  for (const std::uint32_t lines_in_flight : {1u, 16u, 500u, 100000u}) {
    const Events asked = serve(lines_in_flight, false);
    operations_ = 0;
    EXPECT_EQ(serve(lines_in_flight, true), asked);
    EXPECT_EQ(asked.ended.size(), 6u);
    operations_ = 0;
  }
}

}  // namespace
}  // namespace lockstep::test::host_link_run_test
