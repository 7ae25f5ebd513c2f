#pragma once

#include <string>

namespace lockstep {

/// What helps against a failure of the operating system with a file, given its words for it
/// (strerror); `usual` if that is about something else.
std::string file_advice(const std::string& reason, const std::string& usual);

}  // namespace lockstep
