#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <memory>

#include "core/checkpoint/archive.hpp"
#include "core/engine/component.hpp"
#include "core/engine/graph.hpp"
#include "core/engine/outbox.hpp"
#include "core/memory/cache_aligned.hpp"
#include "core/statistics/view.hpp"
#include "tests/unit/core/engine/quick_exponential.hpp"

namespace lockstep::phold {

/// The classic synthetic load: every event causes one event, `lookahead` plus an exponentially
/// distributed time of mean `mean` later, at a random other component with `remote_probability`,
/// else at the same one.
struct Parameters {
  std::uint32_t components = 1024;
  std::uint32_t events_per_component = 1;
  double remote_probability = 0.25;
  Time lookahead{1'000'000};       ///< "1" is a nanosecond
  std::uint64_t mean = 1'000'000;  ///< femtoseconds, at most 2^26
  std::uint64_t seed = 1;
  std::uint32_t work = 0;  ///< rounds of arithmetic per event, about a nanosecond each
};

struct Body {
  std::uint64_t label;  ///< changes with every hop: the history of the event
  Time hold;            ///< from the arrival to the event: links deliver in order of departure
};

struct Event {
  Time time;
  std::uint64_t label;

  auto operator<=>(const Event&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(time, label);
  }
};

constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15ull;

/// Random numbers from a counter, by the finaliser of SplitMix64 (G. Steele et al., "Fast
/// splittable pseudorandom number generators", OOPSLA 2014): cheap, since the engine is to be
/// measured and not the load.
constexpr std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Words that tell apart any two histories.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return scramble(a ^ (b + golden_ratio));
}
/// Likewise cheaper, where many follow each other.
constexpr std::uint64_t chain(std::uint64_t a, std::uint64_t b) {
  return (std::rotl(a, 29) ^ b) * golden_ratio;
}

class alignas(cache_line_bytes) Holder final : public Component {
 public:
  Holder(const Parameters& parameters, ComponentId id, LinkId first_link)
      : stream_(mix(parameters.seed, id.value())),
        parameters_(parameters),
        threshold_(static_cast<std::uint64_t>(parameters.remote_probability * 0x1.0p32)),
        spread_(threshold_ > 0 ? (std::uint64_t{parameters.components - 1} << 32) / threshold_ : 0),
        id_(id),
        trunk_(first_link, ComponentId{0}, parameters.lookahead) {
    for (std::uint32_t i = 0; i < parameters.events_per_component; ++i) {
      insert({parameters.lookahead + hold(scramble(stream_ - i)), i});
    }
    draw();
  }

  Time next_activity() const override {
    return count_ > 0 ? events_[count_ - 1].time : Time::never();
  }

  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    for (const MessageHeader* message : inbox) {
      const Body& body = message->body<Body>();
      insert({message->arrival + body.hold, body.label});
    }
    while (count_ > 0 && events_[count_ - 1].time < horizon) handle(events_[--count_], outbox);
  }

  void serialize(Archive& archive) override {
    archive.section("holder", 1);
    events_.resize(count_);
    archive(handled_, digest_, events_);
    count_ = events_.size();
    trunk_.serialize(archive);
    draw();
  }

  StatisticsView statistics(Time) override { return {}; }
  bool finished() const override { return false; }

  std::uint64_t handled() const { return handled_; }
  /// Of everything that happened here, in order.
  std::uint64_t digest() const { return digest_; }

 private:
  struct Draw {
    Time hold;
    std::uint32_t target;  ///< this component for an event that stays
  };

  Time hold(std::uint64_t bits) const {
    const std::uint64_t drawn = quick_exponential(static_cast<std::uint32_t>(bits >> 32));
    return Time{static_cast<std::int64_t>(drawn * parameters_.mean >> 32)};
  }

  /// What the next event will cause.  Drawn an event ahead, off the critical path.
  void draw() {
    const std::uint64_t bits = scramble(stream_ + (handled_ + 1) * golden_ratio);
    drawn_.hold = hold(bits);
    // Below the threshold the low bits are as good a number for the choice of the target.
    const std::uint64_t low = bits & 0xffffffff;
    const auto target = static_cast<std::uint32_t>(low * spread_ >> 32);
    drawn_.target = low < threshold_ ? target + (target >= id_.value()) : id_.value();
  }

  void handle(const Event event, Outbox& outbox) {
    digest_ = chain(digest_, event.label ^ static_cast<std::uint64_t>(event.time.femtoseconds()));
    std::uint64_t label = chain(event.label, id_.value());
    for (std::uint32_t round = 0; round < parameters_.work; ++round) {
      label = label * 0xD1342543DE82EF95ull + 1;
    }
    const Draw drawn = drawn_;
    ++handled_;
    draw();
    if (drawn.target != id_.value()) {
      outbox.send(trunk_.to(ComponentId{drawn.target}), event.time, 0, Body{label, drawn.hold});
    } else {
      insert({event.time + parameters_.lookahead + drawn.hold, label});
    }
  }

  /// Latest first, so that the next event is the last one.
  void insert(Event event) {
    if (events_.size() == count_) events_.emplace_back();
    std::size_t hole = count_++;
    for (; hole > 0 && events_[hole - 1] < event; --hole) events_[hole] = events_[hole - 1];
    events_[hole] = event;
  }

  // In the order in which an event needs them.
  std::size_t count_ = 0;  ///< events that are waiting
  LineAlignedVector<Event> events_;
  Draw drawn_{};
  std::uint64_t handled_ = 0;
  std::uint64_t digest_ = 0;
  std::uint64_t stream_;  ///< where its random numbers begin
  const Parameters& parameters_;
  std::uint64_t threshold_;  ///< of 2^32: below it an event leaves
  std::uint64_t spread_;     ///< other components by the threshold, 32 fraction bits
  ComponentId id_;
  Trunk trunk_;
};

/// Every component has a link to every component.
inline Graph graph(const Parameters& parameters) {
  Graph result;
  const KindId kind = result.add_kind("holder");
  for (std::uint32_t i = 0; i < parameters.components; ++i) result.add_component(kind);
  for (std::uint32_t from = 0; from < parameters.components; ++from) {
    for (std::uint32_t to = 0; to < parameters.components; ++to) {
      result.connect(ComponentId{from}, ComponentId{to}, parameters.lookahead);
    }
  }
  return result;
}

/// `parameters` must outlive the components.
inline ComponentFactory factory(const Parameters& parameters) {
  return [&parameters](ComponentId id) {
    return std::make_unique<Holder>(parameters, id, LinkId{id.value() * parameters.components});
  };
}

}  // namespace lockstep::phold
