/// Loading of PTX files into programs that can run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/isa/lowering/lowering.hpp"
#include "models/isa/module/module_loader.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Reads, lowers and encodes a module. Throws UserError "file:line:column: ..." for text that is
/// malformed or not supported.
Module load_module(const std::string& path, const LoweringOptions& options = {});
/// Reads several files, linked to one module (module/module_linker.hpp), with the programs of these
/// kernels only; unknown names are ignored. All text must follow the grammar; the other rules are
/// checked only for the code that these kernels reach.
Module load_modules(const std::vector<std::string>& paths, const LoweringOptions& options,
                    const std::set<std::string>& kernels);
/// Returns a loader of several files, and the kernels of these names, by their index in
/// Module::kernels.
ModuleLoader open_modules(const std::vector<std::string>& paths, const LoweringOptions& options);
std::vector<std::uint32_t> kernels_named(const Module& module, const std::set<std::string>& names);
/// Loads a module from text; `file` names it in messages.
Module load_module_text(const std::string& text, const std::string& file,
                        const LoweringOptions& options = {});

/// Returns the constants of a grid, Program::constant_rows rows of 32 lanes: parameters and the
/// addresses of global variables (by index).
std::vector<std::uint32_t> fill_constants(const Program& program,
                                          const std::vector<std::byte>& parameters,
                                          const std::vector<std::uint64_t>& global_addresses);

/// Writes addresses into the initial content of a variable or of the constant image.
void relocate(std::vector<std::byte>& bytes,
              const std::vector<GlobalVariable::Relocation>& relocations, const Module& module,
              const std::vector<std::uint64_t>& global_addresses);

}  // namespace lockstep::isa
