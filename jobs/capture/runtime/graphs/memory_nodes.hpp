/// Memory allocated and freed in the order of a stream; in a captured stream, by nodes of its
/// graph.
#pragma once

#include <cstddef>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

Error allocate_in(StreamHandle stream, void** pointer, std::size_t bytes);
Error release_in(StreamHandle stream, void* pointer);

/// Result of freeing a graph's memory from the program, between two launches of the graph.
enum class FreedOfGraph { none, freed, was_free };
FreedOfGraph free_of_graph(void* pointer);

}  // namespace lockstep::capture
