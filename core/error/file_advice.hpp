#pragma once

#include <string>

namespace lockstep {

/// Returns advice for a failed file operation, by the operating system's words for the failure
/// (strerror); `usual` for other failures.
std::string file_advice(const std::string& reason, const std::string& usual);

}  // namespace lockstep
