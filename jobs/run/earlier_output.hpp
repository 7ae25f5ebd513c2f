#pragma once

#include <string>

#include "jobs/run/identity.hpp"

namespace lockstep {

/// A run may renew its own output, with another program, on other threads and with or without
/// --check.  Throws UserError that names what differs if `path`, or the checkpoint beside it, is of
/// another run.
/// `checkpoint`: "" if the run writes none.  Files that are not of runs are left to those who would
/// replace them.
void require_own_output(const std::string& path, const std::string& checkpoint,
                        const Identity& identity);

}  // namespace lockstep
