#pragma once

#include "core/parameters/policy.hpp"

namespace lockstep {

/// Key `policies.exception_scheme`.
const PolicyList& exception_scheme_policies();

}  // namespace lockstep
