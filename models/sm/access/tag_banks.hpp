/// Banks of L1's tags: each compares one tag in a cycle.
///
/// Source: te42kyfo/gpu-benches, gpu-strides (a100.txt and h200.txt, the column of tag-stage
/// wavefronts).  Of 144 strides and blocks on an A100 the cycles are those of the fullest of four
/// banks within 2.2 % in the mean (and within 3.4 % on an H200), if XOR of all pairs of address
/// bits chooses a line's bank.
#pragma once

#include <cstdint>

#include "models/sm/access/access.hpp"

namespace lockstep {

/// Returns the largest number of lines of the access in one of the `banks` (1, 2 or 4).
unsigned most_lines_of_a_tag_bank(const Access& access, unsigned banks);

}  // namespace lockstep
