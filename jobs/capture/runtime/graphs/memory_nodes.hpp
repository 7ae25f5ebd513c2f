/// Memory in the order of a stream: where the stream is captured, nodes of its graph that allocate
/// and free.
#pragma once

#include <cstddef>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

Error allocate_in(StreamHandle stream, void** pointer, std::size_t bytes);
Error release_in(StreamHandle stream, void* pointer);

/// Memory of a graph's that the program frees by itself, between two launches of it.
enum class FreedOfGraph { none, freed, was_free };
FreedOfGraph free_of_graph(void* pointer);

}  // namespace lockstep::capture
