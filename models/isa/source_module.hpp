/// A PTX module after the reader, for lowering and encoder.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/error/error.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/matrix/form.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Linkage of a function or variable: the other modules that may refer to it by name (PTX ISA 8.x,
/// section 11.5).
enum class Linkage : std::uint8_t { own, visible, weak, common, external };

/// Linkage of a function or variable, and "file:line:column" of its name.
struct SourceLink {
  Linkage linkage = Linkage::own;
  std::string where;
};

/// A function and its header.
struct SourceFunction {
  ir::Function code;
  /// Call of a function without a body here, and the mistake in it if no module has one.
  struct Call {
    std::uint32_t function;
    UserError mistake;
  };
  SourceLink link;
  std::string file, signature;  ///< file, and widths of results and parameters
  bool has_body = false;
  std::vector<Call> undefined_calls;
  std::vector<KernelParameter> parameters;  ///< parameters of an entry
  std::uint32_t parameter_bytes = 0;
  std::array<std::uint32_t, 3> required_block{};
  std::uint32_t maximum_threads = 0;                ///< .maxntid, zero when absent
  std::array<std::uint32_t, 3> required_cluster{};  ///< .reqnctapercluster, zero when absent
  std::uint32_t maximum_cluster = 0;                ///< .maxclusterrank, zero when absent
  bool explicit_cluster = false;                    ///< .explicitcluster
  std::uint32_t minimum_blocks = 0;                 ///< .minnctapersm, zero when absent
  std::uint32_t maximum_registers = 0;              ///< .maxnreg, zero when absent
  std::uint32_t line = 0, column = 0;               ///< place of the definition
  std::optional<UserError> mistake;  ///< reason why the body could not be read to its end
};

/// A module as read: before encoding.
struct SourceModule {
  std::string file;
  std::vector<SourceFunction> functions;  ///< functions by index; [0] is no function
  std::vector<GlobalVariable> globals;
  std::vector<std::byte> constant_image;
  std::vector<GlobalVariable::Relocation> constant_relocations;
  std::vector<ir::Variable> constants;  ///< variables placed in constant_image
  /// Shared variables of all functions; [0] belongs to the system.
  std::vector<ir::Variable> shared;
  std::vector<SourceLink> global_links, constant_links;
  /// Computes the products of matrices; nothing: they are refused.
  std::optional<MatrixArithmetic> matrices = MatrixArithmetic::ampere;
  /// whether the machine has an engine for bulk copies and counts transactions; else these are
  /// refused
  bool bulk_copies = true;
  bool clusters = true;  ///< true: the machine has thread block clusters; false: they are refused
};

}  // namespace lockstep::isa
