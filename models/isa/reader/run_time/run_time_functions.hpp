/// Functions of the CUDA run time that are supplied to modules which declare them.
///
/// vprintf(format, arguments) reads its arguments from the caller's buffer, word by word with
/// ordinary loads, and hands them to `print` instructions, whose meaning is WarpPrint's.
/// malloc and free: see heap_functions.hpp.
/// Source: PTX Interoperability guide, "System Calls"; CUDA C++ Programming Guide, "Formatted
/// Output".
///
/// Simplified: the function is shorter than the driver's, which ptxas links.
/// Cost model: a call and some ten instructions, and seven for each four bytes of arguments, the
/// loads of these from (mostly local) memory among them.
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
