/// Several modules become one, as a device linker makes one of separately compiled files.
///
/// A name declared .extern refers to the .visible, .weak or .common definition of any module; names
/// without such a directive belong to their module alone.  Among several definitions a visible one
/// counts, otherwise the first weak one; of common variables the largest; two visible ones are a
/// mistake.  Source: PTX ISA 8.x, sections 5.1 and 11.5 "Linking Directives".
///
/// Simplified: shared variables belong to their module, except those of unknown size, which all
/// begin behind the others.
#pragma once

#include <vector>

#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// Throws UserError at a definition that there is twice, at an external variable that there is not,
/// and at a function that is declared otherwise than defined.  A call of a function that nobody
/// defines is a mistake of the function that calls.  Errors name the first module's file in
/// general, their own where something is declared.
SourceModule link_modules(std::vector<SourceModule> modules);

}  // namespace lockstep::isa
