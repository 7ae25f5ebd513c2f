#pragma once

#include <utility>

#include "models/isa/lowering/lowering.hpp"

namespace lockstep::isa {

/// Every switch of the lowering, with its name.
inline constexpr std::pair<const char*, bool LoweringOptions::*> pass_list[] = {
    {"propagate_copies", &LoweringOptions::propagate_copies},
    {"fold_constants", &LoweringOptions::fold_constants},
    {"fold_parameters", &LoweringOptions::fold_parameters},
    {"fold_addresses", &LoweringOptions::fold_addresses},
    {"fuse_integers", &LoweringOptions::fuse_integers},
    {"fold_signs", &LoweringOptions::fold_signs},
    {"merge_loads", &LoweringOptions::merge_loads},
    {"merge_logic", &LoweringOptions::merge_logic},
    {"eliminate_common", &LoweringOptions::eliminate_common},
    {"eliminate_dead", &LoweringOptions::eliminate_dead},
    {"hoist_invariants", &LoweringOptions::hoist_invariants},
    {"predicate_branches", &LoweringOptions::predicate_branches},
    {"unroll_loops", &LoweringOptions::unroll_loops},
    {"simplify_flow", &LoweringOptions::simplify_flow},
    {"schedule", &LoweringOptions::schedule},
    {"preemption_points", &LoweringOptions::preemption_points},
};

}  // namespace lockstep::isa
