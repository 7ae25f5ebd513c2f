#pragma once

#include "models/noc/messages.hpp"

namespace lockstep {

/// Returns whether requests of this kind come from the GPU: from SMs or their GMMU.  All other
/// requests come from the CPU.
constexpr bool is_of_gpu(SourceKind kind) {
  return kind == SourceKind::sm || kind == SourceKind::gmmu || kind == SourceKind::peer;
}

}  // namespace lockstep
