/// Entries of graphs whose arguments differ from those of the runtime.
#include "jobs/capture/runtime/graphs/graphs.hpp"

#include "jobs/capture/runtime/driver/driver.hpp"

namespace lockstep::capture {
LOCKSTEP_EXPORT Error cudaGraphInstantiateWithFlags(Graph** executable, const Graph* graph,
                                                    unsigned long long flags);
}

namespace lockstep::capture::driver {

LOCKSTEP_DRIVER Error cuGraphExecUpdate_v2(Graph* executable, const Graph* graph,
                                           GraphUpdateResult* result) {
  return apart([&] { return update(executable, graph, result); });
}
LOCKSTEP_DRIVER Error cuGraphExecUpdate(Graph* executable, const Graph* graph, GraphNode** node,
                                        int* result) {
  GraphUpdateResult told;
  const Error error = cuGraphExecUpdate_v2(executable, graph, &told);
  if (node) *node = nullptr;
  if (result) *result = told.result;
  return error;
}
/// Instantiates a graph. The last three parameters would report nodes that cannot be instantiated.
LOCKSTEP_DRIVER Error cuGraphInstantiate(Graph** executable, const Graph* graph, GraphNode**, char*,
                                         std::size_t) {
  return apart([&] { return cudaGraphInstantiateWithFlags(executable, graph, 0); });
}

}  // namespace lockstep::capture::driver
