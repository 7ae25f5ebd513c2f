#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"

namespace lockstep {

/// The machine as the engine and the partitioner see it: components and links in a canonical order
/// that does not depend on ranks or threads.  Every rank has the whole graph, but builds only its
/// own components.
class Graph {
 public:
  struct Kind {
    std::string name;  ///< "sm", "partition", ...
  };
  struct Node {
    KindId kind;
    std::uint32_t index;  ///< number among the components of its kind
    double weight;        ///< expected cost, for the partitioner
    /// Number of a group of components that exchange most messages among themselves, such as those
    /// of a GPU. Nothing for components shared by all groups, and if there is only one group.
    std::optional<std::uint32_t> group;
  };
  /// Contents of a link. `answers`: it brings its destination, an AnswerReceiver, only answers to
  /// requests of that component.
  enum class Carries : std::uint8_t { anything, answers };
  struct Edge {
    ComponentId source, destination;
    Time latency;
    double weight;  ///< expected traffic, for the partitioner
    Carries carries = Carries::anything;
  };

  KindId add_kind(std::string name);
  ComponentId add_component(KindId kind, double weight = 1,
                            std::optional<std::uint32_t> group = {});
  /// Latency must be > 0.
  LinkId connect(ComponentId source, ComponentId destination, Time latency, double weight = 1,
                 Carries carries = Carries::anything);

  const std::vector<Kind>& kinds() const { return kinds_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  /// Returns the component's name, such as "sm[7]".
  std::string name(ComponentId component) const;
  /// Returns the sending end for the component at the link's source to own.
  Link link(LinkId id) const;

 private:
  std::vector<Kind> kinds_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
};

/// Builds a component on its rank.  Called once for each component of this rank.
using ComponentFactory = std::function<std::unique_ptr<Component>(ComponentId)>;

}  // namespace lockstep
