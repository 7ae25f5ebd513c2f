/// A short recording's steps in words, for people who read workload.yaml.
#pragma once

#include <string>

#include "jobs/capture/device_memory.hpp"

namespace lockstep::capture {

/// A comment of a line for each step; empty for a program of more than a screen.
std::string readable_steps(const std::string& recording_file, DeviceMemory& memory);

/// The name that workload.yaml gives the buffer of this number.
std::string buffer_name(std::size_t number);

}  // namespace lockstep::capture
