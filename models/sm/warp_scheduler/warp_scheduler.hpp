/// Warp scheduler: it chooses the warp that issues when several warps of a scheduler can.
///
/// A policy is a plain struct of masks and slots.  A switch over a variant selects the policy once
/// per choice; there is never a virtual call.  Contract: choose(scheduler, candidates) returns the
/// slot of one of the bits of `candidates`, which is not zero, and depends on nothing but the calls
/// before.  A policy's constructor takes its own parameters, if it has a type `Parameters`, and the
/// SM's number of schedulers.  `name` and `documentation` are for configurations and their authors;
/// `starves_others` says whether a warp that can always issue keeps others waiting on purpose.
/// Hooks: added / removed when a warp gets or leaves its slot, stalled when a warp begins to wait
/// for memory.
#pragma once

#include <variant>

#include "core/parameters/policy.hpp"
#include "models/sm/warp_scheduler/gto.hpp"
#include "models/sm/warp_scheduler/lrr.hpp"
#include "models/sm/warp_scheduler/registry.hpp"
#include "models/sm/warp_scheduler/two_level.hpp"

namespace lockstep {

/// All policies, in the order of the documentation.  The registry is made from this list: a new
/// policy is a file of this folder and its place here.
using WarpScheduler = std::variant<LooseRoundRobin, GreedyThenOldest, TwoLevel>;

/// Returns a warp scheduler for an SM with this number of schedulers.
WarpScheduler make_warp_scheduler(const PolicyChoice& choice, unsigned schedulers);

}  // namespace lockstep
