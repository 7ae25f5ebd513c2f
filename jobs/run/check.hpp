#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/output/run_output.hpp"
#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"

namespace lockstep {

/// In /run of an output whose check found nothing.
inline constexpr const char* check_passed = "passed";

struct CheckResult {
  /// Digest of a buffer's final bytes.
  struct Digest {
    std::string tenant, buffer;
    std::uint64_t value = 0;
  };

  bool passed = true;
  std::string text;  ///< one line per tenant, and one per warning
  std::vector<Digest> digests;
};

/// Runs every tenant's program once more in the functional interpreter and compares the checked
/// buffers with those of the first round.  Returns nothing if it was cut short: `is_unwanted` is
/// called at intervals.
std::optional<CheckResult> check_tenants(const Scenario& scenario, const Machine& machine,
                                         Host& host, const std::function<bool()>& is_unwanted);

/// Returns a line if this computer has less memory than the check takes when all its buffers are
/// touched; otherwise "".
std::string note_of_check(const Scenario& scenario);

/// Returns a line for each device buffer that a kernel certainly reads before anything was written
/// to it, without running the program. check_tenants finds all such reads.
std::vector<std::string> find_forgotten_copies(const Scenario& scenario, const Machine& machine);

/// Writes /final/digests.
void write_digests(const CheckResult& check, RunOutput& file);

}  // namespace lockstep
