#include "models/gpu/link_table.hpp"

#include "core/error/error.hpp"

namespace lockstep {

LinkTable::LinkTable(const Graph& graph) : graph_(&graph), of_sender_(graph.nodes().size()) {
  std::uint32_t number = 0;
  for (const Graph::Edge& edge : graph.edges())
    of_sender_[edge.source.value()].push_back(LinkId{number++});
}

std::vector<Link> LinkTable::from(ComponentId component) const {
  std::vector<Link> links;
  for (const LinkId id : of_sender_[component.value()]) links.push_back(graph_->link(id));
  return links;
}

std::vector<Link> LinkTable::to_all(ComponentId from, KindId kind) const {
  std::vector<Link> links;
  for (const LinkId id : of_sender_[from.value()]) {
    const ComponentId receiver = graph_->edges()[id.value()].destination;
    if (graph_->nodes()[receiver.value()].kind == kind) links.push_back(graph_->link(id));
  }
  return links;
}

Link LinkTable::to_one(ComponentId from, KindId kind) const {
  const std::vector<Link> links = to_all(from, kind);
  LOCKSTEP_CHECK(links.size() == 1, graph_->name(from) + " has no single link to " +
                                        graph_->kinds()[kind.value()].name);
  return links.front();
}

}  // namespace lockstep
