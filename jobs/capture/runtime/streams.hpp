/// Streams and events as the program holds them.
#pragma once

#include <cstdint>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Whether the program has such a stream; the default ones are always there.
bool is_stream(StreamHandle stream);
/// 0 is the default stream, which other blocking streams and it wait for.
std::uint64_t stream_number(StreamHandle stream);

}  // namespace lockstep::capture
