/// PTX text into functions over virtual registers and module variables.
///
/// Source: PTX ISA 8.x and 9.0.  The text is parsed by grammar.cpp, functions are translated one
/// statement at a time by FunctionTranslator.
///
/// Simplified: textures, surfaces, matrix instructions, asynchronous copies and clusters are
/// reported when a module is read; so are calls of functions without a body, except those of
/// run_time_calls.cpp.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

/// A function and what its header says.
struct SourceFunction {
  ir::Function code;
  bool has_body = false;
  std::vector<KernelParameter> parameters;  ///< of an entry
  std::uint32_t parameter_bytes = 0;
  std::array<std::uint32_t, 3> required_block{};
  std::uint32_t maximum_threads = 0;
  std::uint32_t maximum_registers = 0;  ///< .maxnreg, zero when not given
  std::uint32_t line = 0, column = 0;   ///< of the definition
};

/// A module as read: before encoding.
struct SourceModule {
  std::string file;
  std::vector<SourceFunction> functions;  ///< by function index; [0] is no function
  std::vector<GlobalVariable> globals;
  std::vector<std::byte> constant_image;
  std::vector<GlobalVariable::Relocation> constant_relocations;
  std::vector<ir::Variable> constants;  ///< placed in constant_image
};

/// Throws UserError "file:line:column: ..." for what is malformed or not supported.
SourceModule read_ptx(const std::string& text, const std::string& file);
/// Reads the file; throws UserError when it cannot be opened.
SourceModule read_ptx_file(const std::string& path);

}  // namespace lockstep::isa
