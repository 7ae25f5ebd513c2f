/// A component that skips nothing: called, and its statistics brought up to date, at every edge of
/// a clock, whether or not it has anything to do.
///
/// What the component inside says of its next activity is not passed on, so the engine has nothing
/// to skip either.
#pragma once

#include <algorithm>
#include <memory>

#include "core/engine/component.hpp"
#include "core/time/time.hpp"

namespace lockstep::testing {

class EveryCycle final : public Component {
 public:
  EveryCycle(std::unique_ptr<Component> inside, Clock clock)
      : inside_(std::move(inside)), clock_(clock) {}

  Time next_activity() const override { return std::min(next_, inside_->next_activity()); }

  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    for (; next_ < horizon; next_ = next_ + clock_.period()) step(next_, inbox, outbox);
    step(horizon, inbox, outbox);
  }
  void serialize(Archive& archive) override { inside_->serialize(archive); }
  StatisticsView statistics(Time now) override { return inside_->statistics(now); }
  std::vector<StatisticsView> parts(Time now) override { return inside_->parts(now); }
  bool finished() const override { return inside_->finished(); }
  std::string waiting_for() const override { return inside_->waiting_for(); }

 private:
  void step(Time horizon, Inbox& inbox, Outbox& outbox) {
    std::size_t count = 0;
    while (count < inbox.size() && inbox[count]->arrival < horizon) ++count;
    inside_->advance(horizon, inbox.first(count), outbox);
    inbox = inbox.subspan(count);
    inside_->statistics(horizon);
    inside_->parts(horizon);
  }

  std::unique_ptr<Component> inside_;
  const Clock clock_;
  Time next_ = clock_.period();  ///< edge that it has not been called at
};

}  // namespace lockstep::testing
