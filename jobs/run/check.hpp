#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/output/run_output.hpp"
#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"

namespace lockstep {

struct CheckResult {
  /// Of a buffer's final bytes.
  struct Digest {
    std::string tenant, buffer;
    std::uint64_t value = 0;
  };

  bool passed = true;
  bool complete = true;  ///< false: there was no time for some tenants
  std::string text;      ///< one line per tenant, and one per warning
  std::vector<Digest> digests;
};

/// Runs every tenant's program once more in the functional interpreter and compares the buffers
/// that are to be checked, as the first round left them.  `is_unwanted` is asked before each.
CheckResult check_tenants(const Scenario& scenario, const Machine& machine, Host& host,
                          const std::function<bool()>& is_unwanted);

/// Without running anything: a line for each device buffer that a kernel surely reads before
/// anything was written to it.  check_tenants finds all of them.
std::vector<std::string> find_forgotten_copies(const Scenario& scenario, const Machine& machine);

/// /final/digests
void write_digests(const CheckResult& check, RunOutput& file);

}  // namespace lockstep
