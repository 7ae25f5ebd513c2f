/// PTX text into functions over virtual registers and module variables.
///
/// Source: PTX ISA 8.x and 9.0.  The text is parsed by syntax/grammar.cpp; FunctionTranslator goes
/// through a function's statements, and the readers of families/ make operations of them.
///
/// Simplified: textures, surfaces, matrix instructions, asynchronous copies and clusters are
/// reported when a module is read; so are calls of functions without a body, except those of
/// families/run_time_calls.cpp.
#pragma once

#include <string>

#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// Throws UserError "file:line:column: ..." for what is malformed or not supported.
SourceModule read_ptx(const std::string& text, const std::string& file);
/// Reads the file; throws UserError when it cannot be opened.
SourceModule read_ptx_file(const std::string& path);

}  // namespace lockstep::isa
