#include "core/engine/graph.hpp"

#include "core/error/error.hpp"

namespace lockstep {

KindId Graph::add_kind(std::string name) {
  kinds_.push_back({std::move(name)});
  return KindId{static_cast<std::uint16_t>(kinds_.size() - 1)};
}

ComponentId Graph::add_component(KindId kind, double weight, std::optional<std::uint32_t> group) {
  LOCKSTEP_CHECK(kind.value() < kinds_.size(), "no such kind of component");
  std::uint32_t index = 0;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (node->kind == kind) {
      index = node->index + 1;
      break;
    }
  }
  nodes_.push_back({kind, index, weight, group});
  return ComponentId{static_cast<std::uint32_t>(nodes_.size() - 1)};
}

LinkId Graph::connect(ComponentId source, ComponentId destination, Time latency, double weight,
                      Carries carries) {
  LOCKSTEP_CHECK(source.value() < nodes_.size() && destination.value() < nodes_.size(),
                 "a link between components that do not exist");
  LOCKSTEP_CHECK(latency > Time::zero(),
                 "the link " + name(source) + " -> " + name(destination) + " has no latency");
  edges_.push_back({source, destination, latency, weight, carries});
  return LinkId{static_cast<std::uint32_t>(edges_.size() - 1)};
}

std::string Graph::name(ComponentId component) const {
  const Node& node = nodes_.at(component.value());
  return kinds_[node.kind.value()].name + "[" + std::to_string(node.index) + "]";
}

Link Graph::link(LinkId id) const {
  const Edge& edge = edges_.at(id.value());
  return Link(id, edge.destination, edge.latency);
}

}  // namespace lockstep
