/// Plug point `preemption`: what becomes of the blocks of a less urgent grid on an SM that a more
/// urgent one is to have.
///
/// The dispatcher decides whom an SM is taken from and when it goes back (see
/// preempting_dispatch.cpp); a technique, in a file each, says how its blocks make room.
/// Source: 002, section II; 003, section 4.1; preemption.md, section 2.
#pragma once

#include <cstdint>

#include "core/parameters/policy.hpp"
#include "models/sm/parameters/context_kind.hpp"

namespace lockstep {

enum class Technique : std::uint8_t {
  wait,   ///< nothing is taken from anybody
  drain,  ///< no block starts any more, those that run do so to their end
  save,   ///< blocks stop where they are, their contexts go to memory
};

using PreemptionRow = PolicyRegistry<Technique>::Row;

/// Key `policies.preemption`.
const PolicyList& preemption_policies();
Technique technique_of(const PolicyChoice& choice);
/// How a technique saves blocks.
struct Saving {
  ContextKind context = ContextKind::occupied;
  StopPlaces stops = StopPlaces::any;
};
Saving saving_of(const PolicyChoice& choice);

}  // namespace lockstep
