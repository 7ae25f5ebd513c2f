#pragma once

#include <vector>

#include "models/isa/program.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// Gives moves, additions and shifts of a program to the unit that multiplies integers, where that
/// unit has less to do than the integer unit.  `records`: parallel to the instructions.
void balance_pipes(const isa::Program& program, const SmParameters& parameters,
                   std::vector<IssueRecord>& records);

}  // namespace lockstep
