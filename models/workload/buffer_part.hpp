#pragma once

#include <cstdint>
#include <string>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Elements [first, first + count) of a buffer.
struct BufferPart {
  std::uint64_t first = 0, count = 0;
};

/// Returns the part of a buffer that a copy or prefetch step names with `offset` and `count`;
/// without them the whole buffer.
BufferPart part_of(const Step& step, const Buffer& buffer, const Variables& variables,
                   const std::string& tenant);

/// Bytes of a copy between GPUs, and their begin in both buffers.
struct PeerParts {
  std::uint64_t from = 0, to = 0, bytes = 0;
};

/// Returns the parts that a copy step with `into` names.
PeerParts peer_parts_of(const Step& step, const Buffer& from, const Buffer& to,
                        const Variables& variables, const std::string& tenant);

}  // namespace lockstep
