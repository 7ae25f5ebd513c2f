#pragma once

#include <string>

namespace lockstep {

/// Returns why `path` cannot be opened as an input; "" if it can. Pipes and devices cannot: reading
/// them may wait for ever, and every rank would get another part.
std::string why_unreadable(const std::string& path);

}  // namespace lockstep
