#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/source_module.hpp"

namespace lockstep::isa::syntax {

/// 1-based place in a PTX file.
struct Position {
  std::uint32_t line = 0, column = 0;
};

/// Operand between commas: of an instruction, an initialiser or a declaration.
struct Operand {
  enum class Kind : std::uint8_t {
    name,     ///< register, symbol, label, special register, "_"
    integer,  ///< `bits`
    single,   ///< 0f..: `bits`
    double_,  ///< 0d.. or decimal: `bits`
    vector,   ///< {a, b}, or a nested initialiser
    address,  ///< [children[0] + addend]
    group,    ///< (a, b) of a call
    pair,     ///< p|q
    generic,  ///< generic(name) of an initialiser
    mask,     ///< 0xff(name): `bits` is the mask, children[0] the address
  };
  Kind kind = Kind::name;
  bool negated = false;  ///< !p
  bool minus = false;    ///< -name
  std::string selector;  ///< name.b2: "b2"
  Position at;
  std::string text;
  std::uint64_t bits = 0;
  std::int64_t addend = 0;  ///< name + addend
  std::vector<Operand> children;
};

/// .reg, .param, .local, .shared, .global, .const: one name of a declaration.
struct Declaration {
  Position at;
  std::string space;  ///< space, without the dot
  std::string type;
  std::string name;
  Linkage linkage = Linkage::own;
  bool is_range = false;  ///< %r<n>
  std::uint64_t count = 0;
  std::uint64_t alignment = 0;            ///< alignment; 0: that of the type
  std::vector<std::uint64_t> dimensions;  ///< extents [n][m]; 0: []
  bool is_array = false;
  std::uint32_t vector = 1;  ///< .v2, .v4
  bool initialised = false;
  Operand initial;
};

/// Line of a function's body.
struct Statement {
  enum class Kind : std::uint8_t {
    instruction,
    label,
    declaration,
    open,            ///< {
    close,           ///< }
    branch_targets,  ///< label: .branchtargets a, b;  also .calltargets
    prototype,       ///< label: .callprototype
    pragma,          ///< .pragma "...";
  };
  Kind kind = Kind::instruction;
  Position at;
  std::string text;  ///< opcode with modifiers; label; list of targets' label
  bool guarded = false, guard_negated = false;
  std::string guard;
  Position guard_at;
  std::vector<Operand> operands;
  std::vector<Declaration> declarations;  ///< declarations, or parameters of a prototype
  std::vector<Declaration> results;       ///< results of a prototype
};

struct Function {
  Position at;
  std::string name;
  bool is_entry = false;
  Linkage linkage = Linkage::own;
  bool has_body = false;
  /// true: the function has no text of the user's, see run_time_functions.hpp.
  bool built_in = false;
  std::vector<Declaration> parameters, results;
  std::uint32_t maximum_threads[3] = {0, 0, 0};
  std::uint32_t required_threads[3] = {0, 0, 0};
  std::uint32_t maximum_registers = 0;
  std::uint32_t required_cluster[3] = {0, 0, 0};
  std::uint32_t maximum_cluster = 0;
  bool explicit_cluster = false;
  std::uint32_t minimum_blocks = 0;
  std::vector<Statement> body;
};

struct Module {
  std::vector<Declaration> variables;
  std::vector<Function> functions;
};

/// Parses PTX text; `file` is for error messages.  Throws UserError "file:line:column: ...".
Module parse(const std::string& text, const std::string& file);

}  // namespace lockstep::isa::syntax
