#pragma once

#include <string>

namespace lockstep {

/// What an output counts with `word` in its path or meaning, whatever its case: statistics, who
/// waits behind whom, columns of tables, derived metrics; a line each.  "": all.
std::string describe_output(const std::string& word);

}  // namespace lockstep
