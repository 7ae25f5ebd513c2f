/// Policies of one component, and their way to the coordinator and back.
///
/// A component with a coordinator calls next() for the time of the next report or decision, run()
/// at that time before its own activity, and before() ahead of any other activity.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "models/coordinator/epoch_policy.hpp"

namespace lockstep {

class PolicyEpochs {
 public:
  /// Period of each topic, where there is a controller; zero elsewhere.
  using Periods = std::array<Time, epoch_topics>;

  /// No policy of the run needs a coordinator.
  PolicyEpochs() = default;
  PolicyEpochs(Link to_coordinator, const Periods& periods)
      : to_coordinator_(to_coordinator), periods_(periods) {}

  /// Adds a policy that gets decisions, and reports under its topic.
  void add(EpochTopic topic, EpochPolicy& policy);

  bool idle() const { return parts_.empty(); }
  /// Returns the earliest report or decision that is due.
  Time next() const { return limit_ == Time::never() ? limit_ : first_due(); }
  /// Returns the earliest report or decision if it is due by `own`, and otherwise any later time,
  /// without asking a policy.
  Time next(Time own) const { return own < limit_ ? Time::never() : next(); }
  /// Returns the time before which an uninterrupted piece of work must end: the next report or
  /// decision may be due then.
  Time limit() const { return limit_; }
  /// The component is about to act at `now`, before next().
  void before(Time now) {
    if (now >= limit_) pass_boundaries(now);
  }
  /// Takes a decision, which takes effect at its arrival.
  void take(const MessageHeader& message);
  /// Applies a decision at once, for a component that takes a message when its time has come.
  void apply(const MessageHeader& message) const;
  /// Applies decisions that are due at next(), then sends reports. Returns whether there was a
  /// decision.
  bool run(Time now, Outbox& outbox);

  void serialize(Archive& archive);

 private:
  struct Part {
    EpochTopic topic;
    EpochPolicy* policy;
    Time boundary;  ///< end of the current epoch; never() if no controller takes reports
  };
  struct Decision {
    Time at;
    EpochTopic topic = EpochTopic::cache_policy;
    std::vector<std::uint64_t> values;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(at, topic, values);
    }
  };

  Time period_of(EpochTopic topic) const { return periods_[static_cast<std::size_t>(topic)]; }
  Time first_due() const;
  void find_limit();
  void pass_boundaries(Time now);
  void send_report(Part& part, Outbox& outbox);

  Link to_coordinator_;
  Periods periods_{};
  std::vector<Part> parts_;
  std::deque<Decision> decisions_;  ///< decisions in order of time
  Time limit_ = Time::never();      ///< earliest of the decisions and boundaries
};

}  // namespace lockstep
