#pragma once

#include "models/sm/access/access.hpp"

namespace lockstep {

/// Returns how many words of one of 32 banks a global access wants at most: the cycles that L1's
/// data take for it.  Lanes that want the same word share it.
unsigned most_words_of_a_bank(const Access& access);

}  // namespace lockstep
