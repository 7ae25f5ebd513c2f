#pragma once

#include <cstdint>
#include <span>

#include "core/error/error.hpp"
#include "core/id/id.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// The sending end of a connection, owned by the sending component.  `latency` is the lookahead.
/// Departures on a link never decrease; Outbox::send checks it in every build.  Only messages that
/// are sent ahead (Outbox::reserve_ahead) do not count.
class Link {
 public:
  Link() = default;
  Link(LinkId id, ComponentId destination, Time latency)
      : id_(id), destination_(destination), latency_(latency) {}

  LinkId id() const { return id_; }
  ComponentId destination() const { return destination_; }
  Time latency() const { return latency_; }

  /// Saves the members that change; the graph gives the rest.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sequence_, last_departure_);
  }

 private:
  friend class Outbox;
  friend class Trunk;
  LinkId id_;
  ComponentId destination_;
  Time latency_;
  Time last_departure_;
  std::uint32_t sequence_ = 0;
};

/// Links from one component to many, with one latency, one count and one order of departures: a
/// component with a thousand destinations keeps one object instead of a thousand. Link `first + i`
/// goes to component `first_destination + i`.
class Trunk {
 public:
  Trunk() = default;
  Trunk(LinkId first, ComponentId first_destination, Time latency)
      : first_(first),
        first_destination_(first_destination),
        link_(first, first_destination, latency) {}

  /// Makes a trunk of consecutive links of a graph to consecutive components.
  explicit Trunk(std::span<const Link> links) {
    if (links.empty()) return;
    *this = Trunk(links[0].id(), links[0].destination(), links[0].latency());
    for (std::uint32_t i = 0; i < links.size(); ++i)
      LOCKSTEP_CHECK(links[i].id().value() == first_.value() + i &&
                         links[i].destination().value() == first_destination_.value() + i &&
                         links[i].latency() == latency(),
                     "the links of a trunk are not neighbours");
  }

  /// Returns the link to the i-th destination, good until the next call.
  Link& operator[](std::uint32_t i) {
    link_.destination_ = ComponentId{first_destination_.value() + i};
    link_.id_ = LinkId{first_.value() + i};
    return link_;
  }
  /// Returns the link to `destination`, good until the next call.
  Link& to(ComponentId destination) {
    return (*this)[destination.value() - first_destination_.value()];
  }
  Time latency() const { return link_.latency(); }

  template <class Archive>
  void serialize(Archive& archive) {
    link_.serialize(archive);
  }

 private:
  LinkId first_;
  ComponentId first_destination_;
  Link link_;
};

}  // namespace lockstep
