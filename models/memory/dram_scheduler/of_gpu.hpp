#pragma once

#include "models/noc/messages.hpp"

namespace lockstep {

/// What does not come from SMs or their GMMU comes from the CPU.
constexpr bool is_of_gpu(SourceKind kind) {
  return kind == SourceKind::sm || kind == SourceKind::gmmu;
}

}  // namespace lockstep
