/// Streams and events as the program holds them.
#pragma once

#include <cstdint>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Returns whether the program has such a stream; the default ones are always there.
bool is_stream(StreamHandle stream);
/// Returns its device and number (protocol.hpp); number 0 is the default stream of the thread's
/// device, which other blocking streams there and it wait for.
std::uint64_t stream_number(StreamHandle stream);
/// Returns whether kernels of the thread's device may be launched into it.
bool is_on_current_device(StreamHandle stream);

}  // namespace lockstep::capture
