#pragma once

#include <cstdint>

#include "core/parameters/policy.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// Key `policies.exception_scheme`.
const PolicyList& exception_scheme_policies();

/// Trait: a faulting instruction is squashed and issues again.
inline constexpr const char* squashes = "squashes";
/// The need of a policy that acts on a warp that has faulted, which must then not wait in the
/// load-store unit for its page.  `why`: what the policy does.
PolicyNeed needs_squashing(std::string why);

/// The scheme can squash a faulting instruction and issue it again.
bool is_preemptible(const PolicyChoice& choice);
/// Entries of its operand log in an SM; 0: it has none.
std::uint32_t log_entries_of(const PolicyChoice& choice);

/// Of the issue tables that SMs with these parameters and this scheme need.
/// `saves`: blocks leave in the middle, with whatever their registers hold.
IssueDetail detail_for(const SmParameters& parameters, const PolicyChoice& choice,
                       bool saves = false);

}  // namespace lockstep
