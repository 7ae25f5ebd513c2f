/// A unit beside the host serves transfers as the host would: each line, each end and each answer
/// at the same femtosecond, whatever the unit's place on the way.
#include "models/host_link/link_unit.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "models/host_link/link_messages.hpp"
#include "tests/unit/host_link/host_link_bench.hpp"

namespace lockstep::test::link_unit_test {
namespace {

constexpr Time latency = 500_ns, service = 37_ns;
constexpr std::uint32_t sms = 2;
constexpr std::uint64_t largest = 2 * MovingBytes::piece_bytes + 48'000;  ///< largest transfer
constexpr std::uint64_t transfers = 40;                                   ///< at most

/// What the host does: it starts a transfer, or answers a remote access.
struct Step {
  Time at;
  std::optional<Transfer> transfer;
  std::uint64_t received = 0, sent = 0;  ///< bytes of a remote access
  std::uint16_t tenant = 0;
};

/// What can be seen from outside, by time.
struct Seen {
  std::vector<std::pair<std::int64_t, std::uint64_t>> lines, ends, answers;
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> stores;  ///< by line
  std::vector<std::byte> memory;
  std::vector<std::uint64_t> bytes;
  bool operator==(const Seen&) const = default;
};

class LinkUnits : public HostLinkBench {
 protected:
  static std::vector<std::byte> load_of(const MemoryRequest& request) {
    std::vector<std::byte> payload;
    if (request.operation == MemoryOperation::store) return payload;
    payload.resize(request.sector_count() * sector_bytes);
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = std::byte((request.line / 128 * 31 + i) & 255);
    return payload;
  }

  std::vector<Step> random_steps(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Step> steps;
    Time at = Time::zero();
    for (std::uint64_t i = 0; i < transfers; ++i) {
      at += Time{static_cast<std::int64_t>(random() % 3'000'000'000)};
      Step step{at, {}, 0, 0, static_cast<std::uint16_t>(random() % tenants)};
      if (random() % 3 == 0) {
        step.received = random() % 2 * 128;
        step.sent = 32 * (random() % 5);
      } else {
        const auto kind = random() % 2 == 0 ? Kind::to_gpu : Kind::to_host;
        // Where they are in host memory they do not overlap: nobody sees the bytes before the end.
        const std::uint64_t bytes = 4 * (1 + random() % (random() % 4 == 0 ? largest / 4 : 2'000));
        step.transfer = transfer(kind, bytes, step.tenant, 4 * (random() % 1000), i * largest);
        step.transfer->rank = static_cast<Class>(random() % 3);
        step.transfer->buffer = kind == Kind::to_gpu ? 0 : 1;
        step.transfer->is_initial = kind == Kind::to_gpu && random() % 2 == 0;
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

  void saw_line(const MessageHeader& message, const MemoryRequest& request) {
    seen_.lines.emplace_back(message.arrival.femtoseconds(), request.line);
    const std::span<const std::byte> bytes = message.payload();
    seen_.stores.emplace_back(request.line, std::vector(bytes.begin(), bytes.end()));
  }

  std::multimap<Time, std::function<void()>> events_;  ///< what reaches the host
  Seen seen_;

  HostLink host_link(const HostParameters& settings, std::optional<Link> to_unit) {
    std::vector<Link> links;
    for (std::uint32_t p = 0; p < partitions; ++p)
      links.emplace_back(LinkId{p}, ComponentId{p}, latency);
    return HostLink(
        settings, AddressMapping(AddressMapping::Kind::plain, partitions), links,
        [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
          return std::span(memory_[transfer.buffer]).subspan(offset, bytes);
        },
        {0, 1, 2, 3, 4, 5}, {}, to_unit);
  }

  void take_step(HostLink& link, const Step& step, std::vector<Link>& to_sms, Outbox& outbox) {
    if (step.transfer) return link.start(*step.transfer, step.at, outbox);
    MemoryResponse answer;
    answer.requester = static_cast<std::uint16_t>(step.tenant % sms);
    answer.tenant = step.tenant;
    const std::vector<std::byte> payload(step.sent);
    link.answer(answer, payload, step.received, step.at, to_sms[answer.requester], outbox);
  }

  void ended(const Transfer& transfer, Time now) {
    EXPECT_EQ(transfer.done, now);
    seen_.ends.emplace_back(now.femtoseconds(),
                            transfer.owner.number + std::uint64_t(transfer.began.femtoseconds()));
  }

  /// Components: partitions, then SMs, then the unit, then the host.
  static constexpr std::uint32_t first_sm = partitions, unit_id = first_sm + sms,
                                 host_id = unit_id + 1;

  Seen finish(const LinkStatistics& to_host, const LinkStatistics& to_gpu) {
    for (auto* statistics : {&to_host, &to_gpu})
      for (std::size_t t = 0; t < tenants; ++t)
        for (std::size_t c = 0; c < LinkStatistics::classes; ++c)
          for (const auto* counter : {&statistics->bytes[t][c], &statistics->transfers[t][c],
                                      &statistics->busy_time[t][c], &statistics->queue_time[t][c]})
            seen_.bytes.push_back(counter->value());
    for (auto* list : {&seen_.lines, &seen_.ends, &seen_.answers})
      std::sort(list->begin(), list->end());
    std::sort(seen_.stores.begin(), seen_.stores.end());
    seen_.memory = memory_[1];
    return seen_;
  }

  Seen served_by_host(const HostParameters& settings, const std::vector<Step>& steps) {
    HostLink link = host_link(settings, {});
    std::vector<Link> to_sms;
    for (std::uint32_t s = 0; s < sms; ++s)
      to_sms.emplace_back(LinkId{first_sm + s}, ComponentId{first_sm + s}, latency);
    std::size_t next = 0;
    for (;;) {
      const Time step = next < steps.size() ? steps[next].at : Time::never();
      const Time event = events_.empty() ? Time::never() : events_.begin()->first;
      const Time now = std::min({step, event, link.next_activity()});
      if (now == Time::never()) break;
      MessageSink sink(host_id + 1);
      if (event <= now) {
        const auto happens = events_.begin()->second;
        events_.erase(events_.begin());
        happens();
      } else if (step <= now) {
        take_step(link, steps[next++], to_sms, sink.outbox());
      } else {
        link.act(now, sink.outbox());
      }
      for (std::uint32_t c = 0; c < host_id; ++c)
        for (const MessageHeader* message : sink.to(c)) {
          if (c >= first_sm) {
            seen_.answers.emplace_back(message->arrival.femtoseconds(), c);
            continue;
          }
          const MemoryRequest request = message->body<MemoryRequest>();
          saw_line(*message, request);
          const Time back = message->arrival + service + latency;
          events_.emplace(back, [this, &link, request, back] {
            const IncomingMessage answer(back, kind_of(MessageKind::memory_response),
                                         answer_to(request), load_of(request));
            if (const auto done = link.take(*answer.get())) ended(*done, back);
          });
        }
    }
    return finish(link.statistics(false), link.statistics(true));
  }

  Seen served_by_unit(const HostParameters& settings, const std::vector<Step>& steps, Time near) {
    const Time far = latency - near;
    HostLink link = host_link(settings, Link(LinkId{100}, ComponentId{unit_id}, far));
    std::vector<Link> none(sms);
    LinkUnit::Setup setup;
    LinkUnit::PortSetup port{settings,
                             AddressMapping(AddressMapping::Kind::plain, partitions),
                             {0, 1, 2, 3, 4, 5},
                             {0, 1, 2, 3, 4, 5},
                             [this](std::uint16_t, std::uint32_t buffer, std::uint64_t offset,
                                    std::span<std::byte> bytes) {
                               std::memcpy(bytes.data(), memory_[buffer].data() + offset,
                                           std::min(bytes.size(), memory_[buffer].size() - offset));
                             },
                             {},
                             Link(LinkId{101}, ComponentId{host_id}, far),
                             {},
                             {}};
    for (std::uint32_t p = 0; p < partitions; ++p)
      port.to_partitions.emplace_back(LinkId{p}, ComponentId{p}, near);
    for (std::uint32_t s = 0; s < sms; ++s)
      port.to_sms.emplace_back(LinkId{first_sm + s}, ComponentId{first_sm + s}, near);
    setup.ports.push_back(std::move(port));
    setup.port_of_link.resize(102);
    setup.from_host = far;
    LinkUnit unit(std::move(setup));
    std::multimap<Time, std::shared_ptr<MessageSink>> mail;  // to the unit
    std::size_t next = 0;
    const auto deliver = [&](MessageSink& sink) {
      for (std::uint32_t c = 0; c < unit_id; ++c)
        for (const MessageHeader* message : sink.to(c)) {
          if (c >= first_sm) {
            seen_.answers.emplace_back(message->arrival.femtoseconds(), c);
            continue;
          }
          const MemoryRequest request = message->body<MemoryRequest>();
          EXPECT_EQ(request.source, SourceKind::link);
          saw_line(*message, request);
          const Time back = message->arrival + service + near;
          auto answer = std::make_shared<MessageSink>(1);
          Link to_unit(LinkId{0}, ComponentId{0}, Time::zero());
          answer->outbox().send(to_unit, back, kind_of(MessageKind::memory_response),
                                answer_to(request), load_of(request));
          mail.emplace(back, answer);
        }
    };
    const auto unit_acts = [&](Time now, std::vector<const MessageHeader*> inbox) {
      MessageSink sink(host_id + 1);
      unit.advance(now + Time{1}, inbox, sink.outbox());
      deliver(sink);
      for (const MessageHeader* message : sink.to(host_id)) {
        const auto* first = reinterpret_cast<const std::byte*>(message);
        auto copy = std::make_shared<std::vector<std::byte>>(first, first + message->total_bytes());
        events_.emplace(message->arrival, [this, &link, copy] {
          const auto& header = *reinterpret_cast<const MessageHeader*>(copy->data());
          if (header.kind == kind_of(MessageKind::link_bytes)) return link.take_bytes(header);
          ended(link.take_moved(header), header.arrival);
        });
      }
    };
    for (;;) {
      const Time step = next < steps.size() ? steps[next].at : Time::never();
      const Time event = events_.empty() ? Time::never() : events_.begin()->first;
      const Time post = mail.empty() ? Time::never() : mail.begin()->first;
      const Time now = std::min({step, event, post, unit.next_activity()});
      if (now == Time::never()) break;
      if (event <= now) {
        const auto happens = events_.begin()->second;
        events_.erase(events_.begin());
        happens();
      } else if (step <= now) {
        auto sink = std::make_shared<MessageSink>(host_id + 1);
        take_step(link, steps[next++], none, sink->outbox());
        mail.emplace(now + far, sink);
      } else if (post <= now) {
        const auto sink = mail.begin()->second;
        mail.erase(mail.begin());
        unit_acts(now, sink->all());
      } else {
        unit_acts(now, {});
      }
    }
    EXPECT_TRUE(link.idle());
    EXPECT_EQ(unit.waiting_for(), "");
    const std::vector<StatisticsView> parts = unit.parts(Time::zero());
    EXPECT_EQ(parts.size(), 2u);
    return finish(*static_cast<const LinkStatistics*>(parts[0].values),
                  *static_cast<const LinkStatistics*>(parts[1].values));
  }

  /// Fills memory that has room for all transfers.
  void clear() {
    SetUp();
    for (auto& buffer : memory_) {
      const std::size_t had = buffer.size();
      buffer.resize(std::max(had, transfers * largest));
      for (std::size_t i = had; i < buffer.size(); ++i)
        buffer[i] = std::byte((i * 7 + i / 256) & 255);
    }
    seen_ = {};
    operations_ = 0;
  }
};

TEST_F(LinkUnits, ServeAsTheHostWould) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    HostParameters settings = parameters(seed % 3 == 0 ? 64 : 100000);
    settings.link_preempts_prefetch = seed % 2 == 0;
    const std::vector<Step> steps = random_steps(seed);
    clear();
    const Seen expected = served_by_host(settings, steps);
    EXPECT_GT(expected.lines.size(), 500u);
    EXPECT_GT(expected.ends.size(), 10u);
    EXPECT_GT(expected.answers.size(), 3u);
    for (const Time near : {Time{1}, 125_ns, 250_ns, 499_ns}) {
      clear();
      EXPECT_EQ(served_by_unit(settings, steps, near), expected)
          << "seed " << seed << ", " << near.femtoseconds() << " fs from the GPU";
    }
  }
}

}  // namespace
}  // namespace lockstep::test::link_unit_test
