/// Memory that the program asks for, whatever interface it asks.
#pragma once

#include <cstddef>

#include "jobs/capture/protocol.hpp"
#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Part of the memory that is recorded; no bytes: all of it.
struct RecordedPart {
  std::size_t begin = 0, bytes = 0;
};
Error allocate(void** pointer, std::size_t bytes, MemoryKind kind, const RecordedPart& part = {});
/// Releases memory. Null is allowed, and nothing happens.
Error release(void* pointer, Releaser releaser = Releaser::any);

/// Makes memory of the program visible to the GPU: its pages are replaced by pages of the shared
/// file with the same content.  The GPU has another address for it.
///
/// Simplified: pages of the stack in use, and pages with other registered memory, stay as they are;
/// copies from and to them work, but kernels have no address for them.
Error register_host(void* pointer, std::size_t bytes);
Error unregister_host(void* pointer);

}  // namespace lockstep::capture
