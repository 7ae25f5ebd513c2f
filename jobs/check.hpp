#pragma once

#include <string>

#include "core/output/run_output.hpp"
#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"

namespace lockstep {

struct CheckResult {
  bool passed = true;
  std::string text;  ///< one line per tenant
};

/// Runs every tenant's program once more in the functional interpreter and compares all buffers, as
/// the first round left them; writes a digest of each to /final.
CheckResult check_tenants(const Scenario& scenario, const Machine& machine, Host& host,
                          RunOutput& file);

}  // namespace lockstep
