#include "models/coordinator/coordinator.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"
#include "models/coordinator/messages.hpp"

namespace lockstep {

Coordinator::Coordinator(std::vector<Controller> controllers, std::vector<Link> to_all)
    : to_all_(std::move(to_all)) {
  for (Controller& controller : controllers) topics_.push_back({std::move(controller)});
  for (const Link& link : to_all_)
    LOCKSTEP_CHECK(link.latency() == to_all_.front().latency(),
                   "a decision takes effect everywhere at once");
}

Time Coordinator::next_activity() const {
  Time due = Time::never();
  for (const Topic& topic : topics_) due = std::min(due, topic.due);
  return due;
}

void Coordinator::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  while (true) {
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time own = next_activity();
    if (std::min(arrival, own) >= horizon) return;
    if (arrival <= own) {
      take(*inbox[next++]);
    } else {
      decide(own, outbox);
    }
  }
}

void Coordinator::take(const MessageHeader& message) {
  LOCKSTEP_CHECK(message.kind == kind_of(MessageKind::epoch_report),
                 "the coordinator got a message it does not understand");
  ++statistics_.reports;
  const auto& body = message.body<EpochMessage>();
  const auto topic = std::find_if(topics_.begin(), topics_.end(),
                                  [&](const Topic& t) { return t.controller.topic == body.topic; });
  LOCKSTEP_CHECK(topic != topics_.end(), "a report has no controller");
  LOCKSTEP_CHECK(topic->due == Time::never() || topic->due == message.arrival,
                 "the reports of an epoch do not arrive together");
  topic->due = message.arrival;
  topic->epoch = body.epoch;
  topic->controller.decides->add({reinterpret_cast<const std::uint64_t*>(message.payload_data()),
                                  message.payload_bytes / sizeof(std::uint64_t)});
}

void Coordinator::decide(Time now, Outbox& outbox) {
  for (Topic& topic : topics_) {
    if (topic.due != now) continue;
    topic.due = Time::never();
    std::vector<std::uint64_t> values;
    topic.controller.decides->decide(topic.epoch, values);
    if (values.empty()) continue;
    ++statistics_.decisions;
    EpochMessage body;
    body.epoch = topic.epoch;
    body.topic = topic.controller.topic;
    for (Link& link : to_all_)
      outbox.send(link, now, kind_of(MessageKind::epoch_values), body,
                  std::as_bytes(std::span(values)));
  }
}

StatisticsView Coordinator::statistics(Time) {
  return statistics_view(statistics_);
}

void Coordinator::serialize(Archive& archive) {
  archive.section("coordinator", 1);
  for (Topic& topic : topics_) {
    archive(topic.due, topic.epoch);
    topic.controller.decides->serialize(archive);
  }
  archive(to_all_, statistics_);
}

}  // namespace lockstep
