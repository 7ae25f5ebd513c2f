/// Functions of the CUDA run time that Lockstep supplies to modules which declare them.
///
/// vprintf(format, arguments) reads its arguments from the caller's buffer, word by word with
/// ordinary loads, and passes them to `print` instructions, which WarpPrint executes. malloc and
/// free: see heap_functions.hpp.
/// Source: PTX Interoperability guide, "System Calls"; CUDA C++ Programming Guide, "Formatted
/// Output".
///
/// Simplified: the function is shorter than the driver's, which ptxas links. Cost model: a call and
/// about ten instructions, and seven for each four bytes of arguments, including loads of the
/// arguments from (mostly local) memory.
#pragma once

#include <string>
#include <vector>

#include "models/isa/reader/syntax/syntax.hpp"

namespace lockstep::isa {

/// Gives bodies to prototypes.  Throws UserError for one that is declared with other parameters.
void supply_run_time_functions(syntax::Module& module, const std::string& file);

/// Returns the bits of each declaration, such as "32 64 array ".
std::string widths_of(const std::vector<syntax::Declaration>& declarations);

}  // namespace lockstep::isa
