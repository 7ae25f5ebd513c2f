#pragma once

#include <cstdint>
#include <string>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Elements [first, first + count) of a buffer.
struct BufferPart {
  std::uint64_t first = 0, count = 0;
};

/// Returns the part of a buffer that a copy or prefetch step names with `offset` and `count`; the
/// whole buffer without them.
BufferPart part_of(const Step& step, const Buffer& buffer, const Variables& variables,
                   const std::string& tenant);

}  // namespace lockstep
