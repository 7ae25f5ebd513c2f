#pragma once

#include "models/sm/access/access.hpp"

namespace lockstep {

/// Returns the most words that one of 32 banks gives for a global access: the cycles that L1's data
/// take for it.  Lanes that want the same word share it.
unsigned most_words_of_a_bank(const Access& access);

}  // namespace lockstep
