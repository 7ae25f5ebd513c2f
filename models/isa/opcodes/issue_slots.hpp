#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Machine instructions ptxas makes of an operation; the decoded instruction occupies and counts as
/// many issue slots.
unsigned issue_slots(const ir::Operation& operation);

}  // namespace lockstep::isa
