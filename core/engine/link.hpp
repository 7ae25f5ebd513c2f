#pragma once

#include <cstdint>

#include "core/id/id.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// The sending end of a connection, owned by the sending component.  `latency` is the lookahead.
/// Departures on a link never decrease; Outbox::send checks it in every build.
class Link {
 public:
  Link() = default;
  Link(LinkId id, ComponentId destination, Time latency)
      : id_(id), destination_(destination), latency_(latency) {}

  LinkId id() const { return id_; }
  ComponentId destination() const { return destination_; }
  Time latency() const { return latency_; }
  bool connected() const { return id_.valid(); }

  /// Only what changes; the rest comes from the graph.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sequence_, last_departure_);
  }

 private:
  friend class Outbox;
  LinkId id_;
  ComponentId destination_;
  Time latency_;
  Time last_departure_;
  std::uint32_t sequence_ = 0;
};

}  // namespace lockstep
