#pragma once

#include "models/isa/program.hpp"

namespace lockstep {

/// Entries of the operand log that an instruction takes: one for the addresses of its lanes, and
/// one for every 8 bytes of data of a lane.  0: it cannot fault.
/// Source: 000, section 3.3 (an entry holds 8 bytes for each of 32 lanes; a store takes two).
unsigned log_entries_of(const isa::Instruction& instruction);

/// Returns the most that an instruction of the program takes.
unsigned largest_log_entries(const isa::Program& program);

}  // namespace lockstep
