/// Collectives of several devices, as libnccl asks the runtime for them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::capture {

/// A GPU of a collective, or a message of an exchange, with the addresses that a program names.
struct CollectiveCallEnd {
  const void* send = nullptr;
  void* receive = nullptr;
  void* stream = nullptr;
  int device = 0;
  std::uint64_t count = 0;  ///< elements of a message
};

/// Numbers of a request (Operation::collective), ends, how many; `failed`: the end with a mistake.
using CollectiveEntry = int (*)(const std::uint64_t*, const CollectiveCallEnd*, std::size_t,
                                int* failed);

}  // namespace lockstep::capture
