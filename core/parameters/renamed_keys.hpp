/// Keys that users wrote under a name of an earlier version.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// Remembers a note about a key; equal notes are kept once.
void note_renamed_key(const std::string& note);
/// Removes and returns the notes so far, in alphabetical order.
std::vector<std::string> take_renamed_keys();

}  // namespace lockstep
