#pragma once

#include "core/output/reference.hpp"

namespace lockstep {

/// All that an output file may hold: what docs/output.md and `lockstep describe` are made of.
OutputContents output_contents();

}  // namespace lockstep
