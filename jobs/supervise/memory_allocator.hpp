#pragma once

namespace lockstep {

/// Returns freed memory to the operating system: when all is simulated, and other memory is wanted.
void return_freed_memory();

}  // namespace lockstep
