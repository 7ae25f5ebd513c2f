#pragma once

#include <string>

namespace lockstep::capture {

/// Whether the name is that of a recording's folder.
bool is_recording(const std::string& path);

/// Kernels, launches and bytes of a recording, for people.
std::string describe_recording(const std::string& path);

/// Entries of the CUDA runtime that capture answers with cudaErrorNotSupported, one a line.
std::string unsupported_entries();

}  // namespace lockstep::capture
