#pragma once

#include <string>

namespace lockstep {

/// Returns the reason why `path` cannot be opened as an input; "" if it can be. Pipes and devices
/// cannot: reading them may wait for ever, and every rank would get a different part.
std::string why_unreadable(const std::string& path);

}  // namespace lockstep
