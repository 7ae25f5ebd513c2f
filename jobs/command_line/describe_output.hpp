#pragma once

#include <string>

namespace lockstep {

/// Describes the counts of an output with `word` in their path or documentation, in any case:
/// statistics, interference, columns of tables, derived metrics; one line each.  "": all.
std::string describe_output(const std::string& word);

}  // namespace lockstep
