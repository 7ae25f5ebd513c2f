#include "jobs/capture/runtime/graphs.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {

struct Graph {
  std::vector<Action> actions;
};

namespace {

std::mutex captured_mutex;
std::map<StreamHandle, Graph*> captured;
thread_local std::optional<StreamHandle> launching;

Error instantiate(Graph** executable, const Graph* graph) {
  if (!executable || !graph) return noted(invalid_value);
  *executable = new Graph(*graph);
  return success;
}

Error destroy(Graph* graph) {
  delete graph;
  return success;
}

}  // namespace

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

Error in_stream(StreamHandle stream, Action action) {
  Graph* graph = graph_of(stream);
  if (!graph) return noted(action());
  graph->actions.push_back(std::move(action));
  return success;
}

LOCKSTEP_EXPORT Error cudaStreamBeginCapture(StreamHandle stream, int) {
  if (!stream) return noted(invalid_value);
  if (graph_of(stream)) return noted(invalid_value);
  join(stream, new Graph);
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamEndCapture(StreamHandle stream, Graph** graph) {
  Graph* const done = graph_of(stream);
  if (!done) return noted(invalid_value);
  const std::lock_guard lock(captured_mutex);
  std::erase_if(captured, [&](const auto& entry) { return entry.second == done; });
  *graph = done;
  return success;
}
LOCKSTEP_EXPORT Error cudaStreamIsCapturing(StreamHandle stream, int* status) {
  *status = graph_of(stream) ? 1 : 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaGraphInstantiate(Graph** executable, const Graph* graph,
                                           unsigned long long) {
  return instantiate(executable, graph);
}
LOCKSTEP_EXPORT Error cudaGraphInstantiateWithFlags(Graph** executable, const Graph* graph,
                                                    unsigned long long) {
  return instantiate(executable, graph);
}
LOCKSTEP_EXPORT Error cudaGraphUpload(Graph*, StreamHandle) {
  return success;
}
LOCKSTEP_EXPORT Error cudaGraphLaunch(const Graph* graph, StreamHandle stream) {
  if (!graph) return noted(invalid_value);
  launching = stream;
  Error error = success;
  for (const Action& action : graph->actions) {
    error = action();
    if (error != success) break;
  }
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
