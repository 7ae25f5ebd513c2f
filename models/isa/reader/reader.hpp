/// Translation of PTX text into functions over virtual registers and module variables.
///
/// Source: PTX ISA 8.x and 9.0.  The text is parsed by syntax/grammar.cpp; FunctionTranslator goes
/// through a function's statements, and the readers of families/ make operations of them.
///
/// Simplified: some textures and surfaces are reported when a kernel that reaches
/// them is loaded; so are calls of functions without a body, except those of
/// families/run_time_calls.cpp.
#pragma once

#include <string>

#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// Reads a module.  Throws UserError "file:line:column: ..." where the text does not follow the
/// grammar, and for mistakes in variables.  Mistakes and unsupported code in a function's body are
/// kept with the function.
SourceModule read_ptx(const std::string& text, const std::string& file);
/// Reads the file; throws UserError when it cannot be opened.
SourceModule read_ptx_file(const std::string& path);

}  // namespace lockstep::isa
