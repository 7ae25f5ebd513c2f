#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/checkpoint/archive.hpp"
#include "core/engine/component.hpp"
#include "core/engine/outbox.hpp"
#include "core/statistics/view.hpp"

namespace lockstep::test {

/// A component whose acts are functions of the test.
class Scripted final : public Component {
 public:
  using Act = std::function<void(Time now, Outbox&)>;

  /// Acts once at `time`.
  void at(Time time, Act act) { acts_[time] = std::move(act); }
  void on_message(std::function<void(const MessageHeader&)> act) { on_message_ = std::move(act); }
  void finished_when(std::function<bool()> condition) { finished_ = std::move(condition); }
  /// What is saved behind the component's section.
  void keeps(std::function<void(Archive&)> state) { state_ = std::move(state); }
  void waits_for(std::string reason) { reason_ = std::move(reason); }

  Time next_activity() const override {
    return acts_.empty() ? Time::never() : acts_.begin()->first;
  }
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    ++calls;
    stands_at = horizon;
    auto message = inbox.begin();
    while (message != inbox.end() || next_activity() < horizon) {
      if (message != inbox.end() && (*message)->arrival <= next_activity()) {
        if (on_message_) on_message_(**message);
        ++message;
      } else {
        const auto act = acts_.extract(acts_.begin());
        if (act.mapped()) act.mapped()(act.key(), outbox);
      }
    }
  }
  void serialize(Archive& archive) override {
    archive.section("scripted", 1);
    if (state_) state_(archive);
  }
  StatisticsView statistics(Time) override { return {}; }
  bool finished() const override { return !finished_ || finished_(); }
  std::string waiting_for() const override { return reason_; }

  int calls = 0;
  Time stands_at;

 private:
  std::map<Time, Act> acts_;
  std::function<void(const MessageHeader&)> on_message_;
  std::function<bool()> finished_;
  std::function<void(Archive&)> state_;
  std::string reason_;
};

/// Component i is what `prepare(i, component)` makes of it.
inline auto scripted(std::function<void(std::uint32_t, Scripted&)> prepare) {
  return [prepare = std::move(prepare)](ComponentId id) {
    auto component = std::make_unique<Scripted>();
    prepare(id.value(), *component);
    return component;
  };
}

}  // namespace lockstep::test
