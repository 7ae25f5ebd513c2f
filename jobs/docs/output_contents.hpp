#pragma once

#include "core/output/reference.hpp"

namespace lockstep {

/// Returns all that an output file may hold, for docs/output.md and `lockstep describe`.
OutputContents output_contents();

}  // namespace lockstep
