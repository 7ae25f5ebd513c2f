#pragma once

namespace lockstep {

/// What was freed goes back to the operating system: when all is simulated, and other memory is
/// wanted.
void return_freed_memory();

}  // namespace lockstep
