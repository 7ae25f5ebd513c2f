#pragma once

#include <algorithm>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/assignment.hpp"
#include "core/engine/component.hpp"
#include "core/engine/graph.hpp"
#include "core/engine/outbox.hpp"
#include "core/random/random.hpp"
#include "core/statistics/view.hpp"
#include "tests/unit/core/engine/phold.hpp"

namespace lockstep::test {

/// A component that acts irregularly: sleeps long, wakes at once, answers, sends payloads.
class Wanderer final : public Component {
 public:
  Wanderer(const Graph& graph, ComponentId id, std::uint64_t seed) : random_(seed, id, 7) {
    for (std::uint32_t i = 0; i < graph.edges().size(); ++i) {
      if (graph.edges()[i].source == id) links_.push_back(graph.link(LinkId{i}));
    }
    if (random_.below(3) > 0 || id.value() == 0)
      wake_at(Time{static_cast<std::int64_t>(random_.below(5000))}, id.value());
  }

  Time next_activity() const override { return alarms_.empty() ? Time::never() : alarms_[0].time; }

  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    for (auto message = inbox.begin();;) {
      if (message != inbox.end() && (*message)->arrival <= next_activity()) {
        std::uint64_t label = (*message)->body<std::uint64_t>();
        for (const std::byte b : (*message)->payload())
          label = phold::mix(label, std::to_integer<std::uint64_t>(b));
        act((*message)->arrival, phold::mix(label, (*message)->link.value()), outbox);
        ++message;
      } else if (next_activity() < horizon) {
        const phold::Event alarm = alarms_.front();
        alarms_.erase(alarms_.begin());
        act(alarm.time, alarm.label, outbox);
      } else {
        return;
      }
    }
  }

  void serialize(Archive& archive) override {
    archive.section("wanderer", 1);
    archive(random_, digest_, alarms_, links_);
  }
  StatisticsView statistics(Time) override { return {}; }
  bool finished() const override { return false; }
  std::uint64_t digest() const { return digest_; }

 private:
  void act(Time now, std::uint64_t label, Outbox& outbox) {
    digest_ =
        phold::mix(phold::mix(digest_, label), static_cast<std::uint64_t>(now.femtoseconds()));
    const std::uint64_t choice = random_.below(16);
    if (choice < 9 && !links_.empty()) {
      Link& link = links_[random_.below(links_.size())];
      std::vector<std::byte> payload(random_.below(40));
      for (std::byte& b : payload) b = static_cast<std::byte>(random_.next_uint32());
      outbox.send(link, now, 0, digest_, payload);
    } else if (choice < 12) {
      wake_at(now + Time{static_cast<std::int64_t>(random_.below(3))}, digest_);
    } else {
      wake_at(now + Time{static_cast<std::int64_t>(random_.below(20000))}, digest_);
    }
  }

  void wake_at(Time time, std::uint64_t label) {
    const auto later = std::upper_bound(alarms_.begin(), alarms_.end(), time,
                                        [](Time t, const phold::Event& e) { return t < e.time; });
    alarms_.insert(later, {time, label});
  }

  Random random_;
  std::uint64_t digest_ = 0;
  std::vector<phold::Event> alarms_;
  std::vector<Link> links_;
};

/// A machine of a few kinds with random links; some components cannot be reached, some cannot send.
inline Graph random_graph(Random& random) {
  Graph graph;
  const std::uint64_t kinds = 1 + random.below(5);
  for (std::uint64_t k = 0; k < kinds; ++k) graph.add_kind("kind" + std::to_string(k));
  const std::uint64_t components = 2 + random.below(14);
  for (std::uint64_t c = 0; c < components; ++c) {
    graph.add_component(KindId{static_cast<std::uint16_t>(random.below(kinds))},
                        1.0 + static_cast<double>(random.below(4)));
  }
  const std::uint64_t links = random.below(4 * components);
  for (std::uint64_t l = 0; l < links; ++l) {
    const std::int64_t scale = random.below(3) == 0 ? 5000 : 100;
    graph.connect(
        ComponentId{static_cast<std::uint32_t>(random.below(components))},
        ComponentId{static_cast<std::uint32_t>(random.below(components))},
        Time{1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(scale)))});
  }
  return graph;
}

inline Assignment random_assignment(Random& random, const Graph& graph, int ranks, int threads) {
  Assignment assignment;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    assignment.places.push_back(
        {static_cast<int>(random.below(static_cast<std::uint64_t>(ranks))),
         static_cast<int>(random.below(static_cast<std::uint64_t>(threads)))});
  }
  return assignment;
}

}  // namespace lockstep::test
