#pragma once

#include <cstdint>
#include <string>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Elements [first, first + count) of a buffer.
struct BufferPart {
  std::uint64_t first = 0, count = 0;
};

/// What a copy or prefetch step names with `offset` and `count`; the whole buffer without them.
/// Throws UserError if it is not within the buffer, or more than was recorded for it.
BufferPart part_of(const Step& step, const Buffer& buffer, const Variables& variables,
                   const std::string& tenant);

}  // namespace lockstep
