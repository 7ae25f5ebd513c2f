#pragma once

#include <cstdint>

#include "core/parameters/policy.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// Returns the key `policies.exception_scheme`.
const PolicyList& exception_scheme_policies();

/// Trait: a faulting instruction is squashed and issues again.
inline constexpr const char* squashes = "squashes";
/// Returns the need of a policy that acts on a warp that has faulted: the warp must not wait in the
/// load-store unit for its page.  `why`: what the policy does.
PolicyNeed needs_squashing(std::string why);

/// Returns whether the scheme can squash a faulting instruction and issue it again.
bool is_preemptible(const PolicyChoice& choice);
/// Returns how many entries the scheme's operand log has in an SM; 0: it has none.
std::uint32_t log_entries_of(const PolicyChoice& choice);

/// Returns how detailed the issue tables must be for SMs with these parameters and this scheme.
/// `saves`: blocks leave in the middle, with whatever their registers hold.
IssueDetail detail_for(const SmParameters& parameters, const PolicyChoice& choice,
                       bool saves = false);

}  // namespace lockstep
