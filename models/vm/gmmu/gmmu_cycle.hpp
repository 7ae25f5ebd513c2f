#pragma once

#include <cstdint>

#include "core/engine/outbox.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// GMMU cycle of an action; messages of the action leave at the cycle's edge.
struct GmmuCycle {
  static constexpr std::int64_t never = INT64_MAX;

  std::int64_t number = 0;
  Time now;
  Outbox& outbox;
};

}  // namespace lockstep
