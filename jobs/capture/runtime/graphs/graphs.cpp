/// Streams captured into graphs; graphs made ready, brought up to date, and launched.
#include "jobs/capture/runtime/graphs/graphs.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {
namespace {

std::mutex captured_mutex;
std::map<StreamHandle, Graph*> captured;
thread_local std::optional<StreamHandle> launching;

Error do_node(const GraphNode& node);

Error do_all(const Graph& graph) {
  for (const GraphNode* node : in_order(graph))
    if (const Error error = node->is_enabled ? do_node(*node) : success; error != success)
      return error;
  return success;
}

Error do_node(const GraphNode& node) {
  if (node.call) return run(*node.call);
  if (node.child) return do_all(*node.child);
  return node.action ? node.action() : success;
}

Error instantiate(Graph** executable, const Graph* graph, unsigned long long flags = 0) {
  if (!executable || !graph) return noted(invalid_value);
  // The graph has a circle.
  if (in_order(*graph).size() != graph->nodes.size()) return noted(invalid_value);
  *executable = copy_of(*graph).release();
  (*executable)->flags = flags;
  return success;
}

Error destroy(Graph* graph) {
  if (!graph) return noted(invalid_value);
  delete graph;
  return success;
}

}  // namespace

void keep(Graph& graph, std::unique_ptr<GraphNode> node) {
  const std::lock_guard lock(captured_mutex);
  if (!graph.nodes.empty()) node->after = {graph.nodes.back().get()};
  node->graph = &graph;
  graph.nodes.push_back(std::move(node));
}

Error add_node(GraphNode** place, Graph* graph, GraphNode* const* before, std::size_t count,
               const std::function<Error(GraphNode&)>& set) {
  if (!place || !graph || (count > 0 && !before)) return noted(invalid_value);
  auto node = std::make_unique<GraphNode>();
  node->after.assign(before, before + count);
  node->graph = graph;
  if (const Error error = set(*node); error != success) return noted(error);
  *place = graph->nodes.emplace_back(std::move(node)).get();
  return success;
}

std::unique_ptr<Graph> copy_of(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : graph.nodes) {
    auto& made = copy->nodes.emplace_back(std::make_unique<GraphNode>(*node));
    if (node->call) made->call = std::make_shared<KernelCall>(*node->call);
    if (node->child) made->child = copy_of(*node->child);
    made->origin = node.get();
    made->graph = copy.get();
    copies[node.get()] = made.get();
  }
  for (const auto& made : copy->nodes)
    for (GraphNode*& before : made->after) before = copies[before];
  return copy;
}

std::vector<GraphNode*> in_order(const Graph& graph) {
  std::vector<GraphNode*> order;
  std::set<const GraphNode*> done;
  const auto is_ready = [&](const GraphNode& node) {
    return std::all_of(node.after.begin(), node.after.end(),
                       [&](const GraphNode* before) { return done.contains(before); });
  };
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get()) || !is_ready(*node)) continue;
      order.push_back(node.get());
      done.insert(node.get());
      found = true;
    }
  }
  return order;
}

GraphNode* find_copy(const Graph& graph, const GraphNode* origin) {
  for (const auto& node : graph.nodes)
    if (node->origin == origin) return node.get();
  return nullptr;
}

Graph* graph_of(StreamHandle stream) {
  const std::lock_guard lock(captured_mutex);
  const auto found = captured.find(stream);
  return found == captured.end() ? nullptr : found->second;
}

void join(StreamHandle stream, Graph* graph) {
  const std::lock_guard lock(captured_mutex);
  captured[stream] = graph;
}

const StreamHandle* launching_stream() {
  return launching ? &*launching : nullptr;
}

Error in_stream(StreamHandle stream, Action action, GraphNode::Type type) {
  if (!is_stream(stream)) return noted(invalid_handle);
  Graph* graph = graph_of(stream);
  if (!graph) return noted(action());
  auto node = std::make_unique<GraphNode>();
  node->type = type;
  node->action = std::move(action);
  keep(*graph, std::move(node));
  return success;
}

Error in_stream(StreamHandle stream, std::shared_ptr<KernelCall> call) {
  if (!is_stream(stream)) return noted(invalid_handle);
  Graph* graph = graph_of(stream);
  if (!graph) return noted(run(*call));
  auto node = std::make_unique<GraphNode>();
  node->type = GraphNode::Type::kernel;
  node->call = std::move(call);
  keep(*graph, std::move(node));
  return success;
}

LOCKSTEP_EXPORT Error cudaStreamBeginCapture(StreamHandle stream, int) {
  if (!stream || !is_stream(stream) || graph_of(stream)) return noted(invalid_value);
  join(stream, new Graph);
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamBeginCaptureToGraph(StreamHandle stream, Graph* graph,
                                                    GraphNode* const*, const void*, std::size_t,
                                                    int) {
  if (!stream || !graph || graph_of(stream)) return noted(invalid_value);
  join(stream, graph);
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamEndCapture(StreamHandle stream, Graph** graph) {
  Graph* const done = graph_of(stream);
  if (!done || !graph) return noted(invalid_value);
  const std::lock_guard lock(captured_mutex);
  std::erase_if(captured, [&](const auto& entry) { return entry.second == done; });
  *graph = done;
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamIsCapturing(StreamHandle stream, int* status) {
  return give(status, graph_of(stream) ? 1 : 0);
}
LOCKSTEP_EXPORT Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int kept = 0;
  if (!mode) return noted(invalid_value);
  std::swap(kept, *mode);
  return success;
}
#if LOCKSTEP_CUDA_MAJOR >= 12
LOCKSTEP_EXPORT Error cudaGraphInstantiate(Graph** executable, const Graph* graph,
                                           unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
#else
/// Instantiates a graph. The last three parameters would report nodes that cannot be instantiated.
LOCKSTEP_EXPORT Error cudaGraphInstantiate(Graph** executable, const Graph* graph, GraphNode**,
                                           char*, std::size_t) {
  return instantiate(executable, graph);
}
#endif
LOCKSTEP_EXPORT Error cudaGraphInstantiateWithFlags(Graph** executable, const Graph* graph,
                                                    unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
/// Instantiates a graph.  The parameters begin with `flags`; a stream for the upload, which needs
/// no time here, and places for errors follow.
LOCKSTEP_EXPORT Error cudaGraphInstantiateWithParams(Graph** executable, const Graph* graph,
                                                     const unsigned long long* flags) {
  return flags ? instantiate(executable, graph, *flags) : noted(invalid_value);
}
LOCKSTEP_EXPORT Error cudaGraphExecGetFlags(const Graph* executable, unsigned long long* flags) {
  return executable ? give(flags, executable->flags) : noted(invalid_value);
}
Error update(Graph* executable, const Graph* graph, GraphUpdateResult* result) {
  constexpr int topology_changed = 2, type_changed = 3;
  if (!executable || !graph) return noted(invalid_value);
  int what = executable->nodes.size() == graph->nodes.size() ? 0 : topology_changed;
  for (std::size_t i = 0; what == 0 && i < graph->nodes.size(); ++i)
    if (executable->nodes[i]->type != graph->nodes[i]->type) what = type_changed;
  if (result) *result = {what, nullptr, nullptr};
  if (what != 0) return noted(graph_update_failure);
  // Nodes stay known under those of the graph that the executable was made from, and under the new
  // ones.
  std::unique_ptr<Graph> updated = copy_of(*graph);
  for (std::size_t i = 0; i < graph->nodes.size(); ++i)
    updated->nodes[i]->is_enabled = executable->nodes[i]->is_enabled;
  executable->nodes = std::move(updated->nodes);
  for (const auto& node : executable->nodes) node->graph = executable;
  return success;
}

/// Takes over the parameters of a graph with the same nodes; with any other difference a program
/// must instantiate again.
#if LOCKSTEP_CUDA_MAJOR >= 12
LOCKSTEP_EXPORT Error cudaGraphExecUpdate(Graph* executable, const Graph* graph,
                                          GraphUpdateResult* result) {
  return update(executable, graph, result);
}
#else
LOCKSTEP_EXPORT Error cudaGraphExecUpdate(Graph* executable, const Graph* graph, GraphNode** node,
                                          int* result) {
  GraphUpdateResult told;
  const Error error = update(executable, graph, &told);
  if (node) *node = nullptr;
  if (result) *result = told.result;
  return error;
}
#endif
LOCKSTEP_EXPORT Error cudaGraphUpload(Graph*, StreamHandle) {
  return success;
}
LOCKSTEP_EXPORT Error cudaGraphLaunch(const Graph* graph, StreamHandle stream) {
  constexpr unsigned long long free_left_over_flag = 1;
  if (!graph) return noted(invalid_value);
  if (!is_stream(stream)) return noted(invalid_handle);
  if ((graph->flags & free_left_over_flag) != 0) free_left_over(*graph);
  launching = stream;
  const Error error = do_all(*graph);
  launching.reset();
  return noted(error);
}
LOCKSTEP_EXPORT Error cudaGraphDestroy(Graph* graph) {
  return destroy(graph);
}
LOCKSTEP_EXPORT Error cudaGraphExecDestroy(Graph* graph) {
  return destroy(graph);
}

}  // namespace lockstep::capture
