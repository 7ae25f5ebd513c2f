#include "models/coordinator/policy_epochs.hpp"

#include <algorithm>
#include <cstring>

#include "models/coordinator/messages.hpp"

namespace lockstep {

void PolicyEpochs::add(EpochTopic topic, EpochPolicy& policy) {
  const Time period = period_of(topic);
  const bool any =
      std::any_of(periods_.begin(), periods_.end(), [](Time p) { return p != Time::zero(); });
  if (any) parts_.push_back({topic, &policy, period == Time::zero() ? Time::never() : period});
  find_limit();
}

Time PolicyEpochs::first_due() const {
  Time due = decisions_.empty() ? Time::never() : decisions_.front().at;
  for (const Part& part : parts_)
    if (part.boundary < due && part.policy->has_report()) due = part.boundary;
  return due;
}

void PolicyEpochs::find_limit() {
  limit_ = decisions_.empty() ? Time::never() : decisions_.front().at;
  for (const Part& part : parts_) limit_ = std::min(limit_, part.boundary);
}

/// Counts from `now` on belong to the next epoch.
void PolicyEpochs::pass_boundaries(Time now) {
  for (Part& part : parts_)
    if (part.boundary <= now)
      part.boundary = period_of(part.topic) * (now / period_of(part.topic) + 1);
  find_limit();
}

void PolicyEpochs::take(const MessageHeader& message) {
  Decision decision{message.arrival, message.body<EpochMessage>().topic, {}};
  decision.values.resize(message.payload_bytes / sizeof(std::uint64_t));
  std::memcpy(decision.values.data(), message.payload_data(), message.payload_bytes);
  decisions_.push_back(std::move(decision));
  find_limit();
}

void PolicyEpochs::apply(const MessageHeader& message) const {
  const std::span values(reinterpret_cast<const std::uint64_t*>(message.payload_data()),
                         message.payload_bytes / sizeof(std::uint64_t));
  for (const Part& part : parts_)
    part.policy->on_epoch(message.body<EpochMessage>().topic, values, message.arrival);
}

bool PolicyEpochs::run(Time now, Outbox& outbox) {
  bool decided = false;
  for (; !decisions_.empty() && decisions_.front().at <= now; decisions_.pop_front()) {
    const Decision& decision = decisions_.front();
    for (const Part& part : parts_) part.policy->on_epoch(decision.topic, decision.values, now);
    decided = true;
  }
  for (Part& part : parts_)
    if (part.boundary == now && part.policy->has_report()) send_report(part, outbox);
  pass_boundaries(now);
  return decided;
}

void PolicyEpochs::send_report(Part& part, Outbox& outbox) {
  std::vector<std::uint64_t> increments;
  part.policy->report(increments);
  EpochMessage body;
  body.epoch = static_cast<std::uint64_t>(part.boundary / period_of(part.topic));
  body.topic = part.topic;
  outbox.send(to_coordinator_, part.boundary, kind_of(MessageKind::epoch_report), body,
              std::as_bytes(std::span(increments)));
}

void PolicyEpochs::serialize(Archive& archive) {
  archive(to_coordinator_, decisions_);
  for (Part& part : parts_) archive(part.boundary);
  find_limit();
}

}  // namespace lockstep
