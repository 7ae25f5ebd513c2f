#pragma once

#include <string>

namespace lockstep::capture {

/// Returns whether the name is that of a recording's folder.
bool is_recording(const std::string& path);

/// Returns kernels, launches and bytes of a recording, for readers.
std::string describe_recording(const std::string& path);

/// Returns the entries of the CUDA runtime that capture answers with cudaErrorNotSupported, one per
/// line.
std::string unsupported_entries();

}  // namespace lockstep::capture
