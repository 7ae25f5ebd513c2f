/// Graphs: nodes with their dependences, made one by one or by capturing streams.
///
/// Simplified: the nodes of a launched graph run one after the other in the stream of the launch,
/// each behind the nodes that it waits for, otherwise in the order of their making.  A captured
/// node waits for the node captured before it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "jobs/capture/runtime/cuda_abi.hpp"
#include "jobs/capture/runtime/launches.hpp"

namespace lockstep::capture {

using Action = std::function<Error()>;
struct Graph;
struct GraphMemory;

struct GraphNode {
  /// Numbers of cudaGraphNodeType.
  enum class Type : int {
    kernel,
    copy,
    fill,
    host,
    child,
    empty,
    wait_event,
    record_event,
    allocate = 10,
    free
  };
  Type type = Type::empty;
  Action action;                     ///< action of a node that is no kernel and no child
  std::shared_ptr<KernelCall> call;  ///< call of a kernel node
  std::shared_ptr<Graph> child;
  std::shared_ptr<GraphMemory> memory;  ///< memory that a node allocates or frees
  std::vector<GraphNode*> after;        ///< nodes that this one waits for
  Graph* graph = nullptr;               ///< graph of the node
  GraphNode* origin = nullptr;          ///< node of which this one is a copy
  bool is_enabled = true;
  std::vector<void*> arguments;  ///< pointers to a kernel's arguments, for queries
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  ///< nodes in the order in which they were made
  unsigned long long flags = 0;                   ///< flags given at instantiation
};

/// Adds a node behind `count` others; `set` fills it in.
Error add_node(GraphNode** place, Graph* graph, GraphNode* const* before, std::size_t count,
               const std::function<Error(GraphNode&)>& set);
/// Adds a captured node at the end.
void keep(Graph& graph, std::unique_ptr<GraphNode> node);
/// Frees memory that an earlier launch allocated and that is still allocated.
void free_left_over(const Graph& graph);

/// Returns a copy of the graph, whose nodes have the origins of those of `graph`.
std::unique_ptr<Graph> copy_of(const Graph& graph);
/// Gives an executable the parameters of a graph with the same nodes.
Error update(Graph* executable, const Graph* graph, GraphUpdateResult* result);
/// Returns the nodes, each behind those that it waits for, otherwise in the order of their making;
/// empty for a graph with a circle.
std::vector<GraphNode*> in_order(const Graph& graph);
/// Returns the node of `graph` that is a copy of `origin`; null: none.
GraphNode* find_copy(const Graph& graph, const GraphNode* origin);

/// Executes the action, or keeps it for the graph into which the stream is being captured.
Error in_stream(StreamHandle stream, Action action, GraphNode::Type type = GraphNode::Type::copy);
Error in_stream(StreamHandle stream, std::shared_ptr<KernelCall> call);
/// Returns the graph that the stream is captured into; null: none.
Graph* graph_of(StreamHandle stream);
/// Captures the stream from now on, too: it waits for an event of the graph.
void join(StreamHandle stream, Graph* graph);
/// Returns, while a graph is launched, the stream that all of it goes to.
const StreamHandle* launching_stream();

}  // namespace lockstep::capture
