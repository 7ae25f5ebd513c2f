/// The coordinator: it decides, epoch by epoch, for policies with parts in many components.
///
/// Reports of t = k * period arrive together, one latency after t.  The coordinator then decides
/// and tells all parts, which apply the decision when it arrives: at the same time, since all links
/// have one latency.  The machine has a coordinator only if a selected policy has a controller.
/// Source: memory-interference.md, section 2 (central ranking of ATLAS and TCM).
///
/// Simplified: messages of epochs take no bandwidth of the network.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "core/statistics/statistics.hpp"
#include "models/coordinator/epoch_controller.hpp"
#include "models/coordinator/epoch_policy.hpp"

namespace lockstep {

struct CoordinatorStatistics {
  Counter reports, decisions;

  static auto schema() {
    using S = CoordinatorStatistics;
    return statistics<S>()
        .counter("reports", &S::reports, "messages", "reports of policies, with their counts")
        .counter("decisions", &S::decisions, "decisions",
                 "decisions that all parts of a policy were told");
  }
};

class Coordinator final : public Component {
 public:
  struct Controller {
    EpochTopic topic;
    std::unique_ptr<EpochController> decides;
  };
  /// `to_all`: links to every component that gets decisions, all of one latency.
  Coordinator(std::vector<Controller> controllers, std::vector<Link> to_all);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;

 private:
  struct Topic {
    Controller controller;
    Time due = Time::never();  ///< time of the decision on the reports so far
    std::uint64_t epoch = 0;
  };
  void take(const MessageHeader& message);
  void decide(Time now, Outbox& outbox);

  std::vector<Topic> topics_;
  std::vector<Link> to_all_;
  CoordinatorStatistics statistics_;
};

}  // namespace lockstep
