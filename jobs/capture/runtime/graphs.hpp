/// Graphs that are made by capturing streams: what was asked meanwhile, done in order when the
/// graph is launched.
///
/// Simplified: a graph's branches follow each other in the stream that it is launched in.  Graphs
/// that are made node by node are not there.
#pragma once

#include <functional>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

using Action = std::function<Error()>;

/// Does it, or keeps it for the graph that the stream is being captured into.
Error in_stream(StreamHandle stream, Action action);
/// The graph that the stream is captured into; null: none.
struct Graph;
Graph* graph_of(StreamHandle stream);
/// From now on the stream is captured as well: it waits for an event of the graph.
void join(StreamHandle stream, Graph* graph);
/// While a graph is launched: the stream that all of it goes to.
const StreamHandle* launching_stream();

}  // namespace lockstep::capture
