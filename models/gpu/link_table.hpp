#pragma once

#include <vector>

#include "core/engine/graph.hpp"

namespace lockstep {

/// The links of a machine by sender and kind of receiver. A graph lists its links in canonical
/// order. This table finds them again, so that no part needs link numbers of its own.
class LinkTable {
 public:
  LinkTable() = default;
  /// `graph` must outlive the table, and has all of its links.
  explicit LinkTable(const Graph& graph);

  /// Returns all links from a component, in the order in which they were connected.
  std::vector<Link> from(ComponentId component) const;
  /// Returns the links from a component to all components of a kind, in the order in which they
  /// were connected; none if there is no such link.
  std::vector<Link> to_all(ComponentId from, KindId kind) const;
  /// Returns the only link from a component to a component of a kind.
  Link to_one(ComponentId from, KindId kind) const;

 private:
  const Graph* graph_ = nullptr;
  std::vector<std::vector<LinkId>> of_sender_;  ///< links of each component as the sender
};

}  // namespace lockstep
