#pragma once

#include <string>

namespace lockstep {

/// Describes the counts of an output with `word` in their path or meaning, whatever its case:
/// statistics, who waits behind whom, columns of tables, derived metrics; a line each.  "": all.
std::string describe_output(const std::string& word);

}  // namespace lockstep
