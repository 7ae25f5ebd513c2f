#pragma once

#include <cstdint>

#include "core/engine/component.hpp"
#include "core/engine/mail/inbox.hpp"

namespace lockstep {

/// The engine's control block of a component, touched by one thread in a window.
struct alignas(128) Slot {
  Component* component = nullptr;
  Time next;  ///< next_activity() of the component
  PendingMessages pending;
  ComponentId id;
  std::uint32_t cost = 0;  ///< recent ticks per window
  std::uint16_t share = 0;
  std::uint16_t kind = 0;
};
static_assert(sizeof(Slot) == 128);

}  // namespace lockstep
