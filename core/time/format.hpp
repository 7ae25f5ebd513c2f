#pragma once

#include <string>

#include "core/time/time.hpp"

namespace lockstep {

/// Returns a time for readers: "12.480 us", "121.951 ns", "never".
std::string to_text(Time time);

}  // namespace lockstep
