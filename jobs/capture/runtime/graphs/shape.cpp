/// Queries of programs about the shape of a graph, and changes of its edges.
#include <algorithm>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"

namespace lockstep::capture {
namespace {

using Nodes = std::vector<GraphNode*>;

/// Writes nodes into the program's array, as many as fit; without an array, only their number.
Error give(const Nodes& nodes, GraphNode** to, std::size_t* count) {
  if (!count) return noted(invalid_value);
  if (to) {
    for (std::size_t i = 0; i < *count; ++i) to[i] = i < nodes.size() ? nodes[i] : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return success;
}

template <class Condition>
Nodes those(const Graph& graph, const Condition& condition) {
  Nodes nodes;
  for (const auto& node : graph.nodes)
    if (condition(*node)) nodes.push_back(node.get());
  return nodes;
}

bool waits_for(const GraphNode& node, const GraphNode* before) {
  return std::find(node.after.begin(), node.after.end(), before) != node.after.end();
}

Error edges(const Graph* graph, GraphNode** from, GraphNode** to, std::size_t* count) {
  if (!graph) return noted(invalid_value);
  Nodes begins, ends;
  for (const auto& node : graph->nodes)
    for (GraphNode* before : node->after) {
      begins.push_back(before);
      ends.push_back(node.get());
    }
  std::size_t room = count ? *count : 0;
  const Error error = give(begins, from, count);
  return error == success && to ? give(ends, to, &room) : error;
}

Error add_edges(GraphNode* const* from, GraphNode* const* to, std::size_t count) {
  if (count > 0 && (!from || !to)) return noted(invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    if (!from[i] || !to[i] || waits_for(*to[i], from[i])) return noted(invalid_value);
    to[i]->after.push_back(from[i]);
  }
  return success;
}

Error remove_edges(GraphNode* const* from, GraphNode* const* to, std::size_t count) {
  if (count > 0 && (!from || !to)) return noted(invalid_value);
  for (std::size_t i = 0; i < count; ++i)
    if (!from[i] || !to[i] || std::erase(to[i]->after, from[i]) == 0) return noted(invalid_value);
  return success;
}

Error dependents(const GraphNode* node, GraphNode** to, std::size_t* count) {
  if (!node) return noted(invalid_value);
  return give(those(*node->graph, [&](const GraphNode& n) { return waits_for(n, node); }), to,
              count);
}

}  // namespace

LOCKSTEP_EXPORT Error cudaGraphGetNodes(const Graph* graph, GraphNode** to, std::size_t* count) {
  if (!graph) return noted(invalid_value);
  return give(those(*graph, [](const GraphNode&) { return true; }), to, count);
}
LOCKSTEP_EXPORT Error cudaGraphGetRootNodes(const Graph* graph, GraphNode** to,
                                            std::size_t* count) {
  if (!graph) return noted(invalid_value);
  return give(those(*graph, [](const GraphNode& node) { return node.after.empty(); }), to, count);
}
LOCKSTEP_EXPORT Error cudaGraphNodeGetType(const GraphNode* node, int* type) {
  if (!node) return noted(invalid_value);
  return give(type, static_cast<int>(node->type));
}
LOCKSTEP_EXPORT Error cudaGraphClone(Graph** clone, const Graph* graph) {
  if (!clone || !graph) return noted(invalid_value);
  *clone = copy_of(*graph).release();
  return success;
}
LOCKSTEP_EXPORT Error cudaGraphNodeFindInClone(GraphNode** node, const GraphNode* origin,
                                               const Graph* clone) {
  if (!node) return noted(invalid_value);
  *node = clone ? find_copy(*clone, origin) : nullptr;
  return noted(*node ? success : invalid_value);
}
LOCKSTEP_EXPORT Error cudaGraphDestroyNode(GraphNode* node) {
  if (!node || !node->graph) return noted(invalid_value);
  auto& nodes = node->graph->nodes;
  for (const auto& other : nodes) std::erase(other->after, node);
  std::erase_if(nodes, [&](const auto& other) { return other.get() == node; });
  return success;
}

// In version 13 these names became the entries with data of edges, which plain edges leave empty.
#if LOCKSTEP_CUDA_MAJOR >= 13
#define LOCKSTEP_WITH_EDGE_DATA(name) name
#else
#define LOCKSTEP_WITH_EDGE_DATA(name) name##_v2
LOCKSTEP_EXPORT Error cudaGraphGetEdges(const Graph* graph, GraphNode** from, GraphNode** to,
                                        std::size_t* count) {
  return edges(graph, from, to, count);
}
LOCKSTEP_EXPORT Error cudaGraphNodeGetDependencies(const GraphNode* node, GraphNode** to,
                                                   std::size_t* count) {
  return node ? give(node->after, to, count) : noted(invalid_value);
}
LOCKSTEP_EXPORT Error cudaGraphNodeGetDependentNodes(const GraphNode* node, GraphNode** to,
                                                     std::size_t* count) {
  return dependents(node, to, count);
}
LOCKSTEP_EXPORT Error cudaGraphAddDependencies(Graph*, GraphNode* const* from, GraphNode* const* to,
                                               std::size_t count) {
  return add_edges(from, to, count);
}
LOCKSTEP_EXPORT Error cudaGraphRemoveDependencies(Graph*, GraphNode* const* from,
                                                  GraphNode* const* to, std::size_t count) {
  return remove_edges(from, to, count);
}
#endif
LOCKSTEP_EXPORT Error LOCKSTEP_WITH_EDGE_DATA(cudaGraphGetEdges)(const Graph* graph,
                                                                 GraphNode** from, GraphNode** to,
                                                                 void*, std::size_t* count) {
  return edges(graph, from, to, count);
}
LOCKSTEP_EXPORT Error LOCKSTEP_WITH_EDGE_DATA(cudaGraphNodeGetDependencies)(const GraphNode* node,
                                                                            GraphNode** to, void*,
                                                                            std::size_t* count) {
  return node ? give(node->after, to, count) : noted(invalid_value);
}
LOCKSTEP_EXPORT Error LOCKSTEP_WITH_EDGE_DATA(cudaGraphNodeGetDependentNodes)(const GraphNode* node,
                                                                              GraphNode** to, void*,
                                                                              std::size_t* count) {
  return dependents(node, to, count);
}
LOCKSTEP_EXPORT Error LOCKSTEP_WITH_EDGE_DATA(cudaGraphAddDependencies)(
    Graph*, GraphNode* const* from, GraphNode* const* to, const void*, std::size_t count) {
  return add_edges(from, to, count);
}
LOCKSTEP_EXPORT Error LOCKSTEP_WITH_EDGE_DATA(cudaGraphRemoveDependencies)(
    Graph*, GraphNode* const* from, GraphNode* const* to, const void*, std::size_t count) {
  return remove_edges(from, to, count);
}

}  // namespace lockstep::capture
