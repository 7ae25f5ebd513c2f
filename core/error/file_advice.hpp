#pragma once

#include <string>

namespace lockstep {

/// Returns advice against a failure of the operating system with a file, given its words for the
/// failure (strerror); `usual` if those concern something else.
std::string file_advice(const std::string& reason, const std::string& usual);

}  // namespace lockstep
