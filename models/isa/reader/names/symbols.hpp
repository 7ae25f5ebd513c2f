#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/reader/syntax/syntax.hpp"
#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// Symbol for which a name stands.
struct Symbol {
  enum class Kind : std::uint8_t {
    reg,   ///< register, predicate registers included
    b128,  ///< register of 128 bits: the halves have their own names, see wide_registers.cpp
    global,
    constant,
    shared,
    local,
    function,
    kernel_parameter,   ///< kernel parameter; `value`: byte offset
    parameter,          ///< scalar parameter of a call: a register
    parameter_bytes,    ///< structure passed to a call or returned: a local variable
    parameter_pointer,  ///< structure in a callee: a register with its local address
    label,
    table,      ///< .branchtargets
    prototype,  ///< .callprototype, .calltargets
  };
  Kind kind = Kind::reg;
  std::uint32_t index = 0;
  std::uint64_t value = 0;
  std::uint64_t bytes = 0;
  Type type = Type::none;
};

using NameTable = std::unordered_map<std::string, Symbol>;

/// State that all functions of a module share while the module is read.
struct ModuleSymbols {
  std::string file;
  NameTable names;
  std::vector<ir::Variable> shared;
  SourceModule* module = nullptr;
};

/// Returns "file:line:column".
std::string place_in(const std::string& file, syntax::Position at);
[[noreturn]] void fail(const std::string& file, syntax::Position at, const std::string& what,
                       const std::string& advice);

/// Returns bytes, alignment and name of a declared variable; checks its type.
ir::Variable variable_of(const std::string& file, const syntax::Declaration& declaration);

/// Declares %reserved_smem_offset_begin, _end, _0 and _1: names of shared memory that the system
/// reserves before the kernel's own, in blocks of kernels that read them.
void declare_reserved_shared(ModuleSymbols& symbols);
inline constexpr std::uint32_t reserved_shared_bytes = 1024;  ///< %reserved_smem_offset_cap

/// Declares a .global or .const variable: its bytes and relocations.
void declare_global(ModuleSymbols& symbols, const syntax::Declaration& declaration);
void declare_constant(ModuleSymbols& symbols, const syntax::Declaration& declaration);
/// Fills in the initial content, after all names of the module are known.
void initialise(ModuleSymbols& symbols, const syntax::Declaration& declaration);

}  // namespace lockstep::isa
