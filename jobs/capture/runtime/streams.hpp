/// Streams and events as the program holds them.
#pragma once

#include <cstdint>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Returns whether the program has the stream; default streams always exist.
bool is_stream(StreamHandle stream);
/// Returns the stream's device and number (protocol.hpp).  Number 0 is the default stream of the
/// thread's device; it and the other blocking streams there wait for each other.
std::uint64_t stream_number(StreamHandle stream);
/// Returns whether kernels of the thread's device may be launched into it.
bool is_on_current_device(StreamHandle stream);

}  // namespace lockstep::capture
