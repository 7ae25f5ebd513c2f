#pragma once

#include <string>

#include "jobs/run/identity.hpp"

namespace lockstep {

/// Throws UserError, with the difference, if `path` or the checkpoint beside it is of another run.
/// A run may renew its own output, with another program, on other threads, and with or without
/// --check. `checkpoint`: "" if the run writes none.  Files of other kinds are left to the code
/// that would replace them.
void require_own_output(const std::string& path, const std::string& checkpoint,
                        const Identity& identity);

}  // namespace lockstep
