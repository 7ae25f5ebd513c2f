#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/instruction.hpp"

namespace lockstep::isa {

/// Rows (one or two) of a grid's constants, and their content when a grid starts.
struct ConstantRow {
  enum class Source : std::uint8_t {
    parameter,      ///< `bytes` bytes at `offset` of the parameter buffer, extended by `is_signed`
    global_symbol,  ///< address of Module::globals[index] plus offset
  };
  Source source = Source::parameter;
  std::uint8_t bytes = 4;  ///< bytes in the parameter buffer
  std::uint8_t width = 4;  ///< bytes of the extended value; 8: two rows; zeros above
  bool is_signed = false;
  std::uint16_t row = 0;
  std::uint32_t index = 0;
  std::int64_t offset = 0;
};

struct KernelParameter {
  std::string name;
  Type type = Type::none;  ///< b8 with bytes > 1: a structure passed by value
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// A decoded kernel (device functions it may call included), ready to run.
struct Program {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<ScoreboardNeed> needs;  ///< scoreboard needs, parallel to `instructions`
  /// Lists of operands, each for one instruction, see flag_listed.
  std::vector<OperandList> operand_lists;
  std::vector<std::uint32_t> source_lines;  ///< PTX lines, parallel to `instructions`
  std::vector<std::uint32_t> immediates;    ///< rows of 32 broadcast lanes
  std::vector<ConstantRow> constants;
  std::uint32_t constant_rows = 0;
  std::vector<std::vector<std::uint32_t>> branch_tables;  ///< targets of each brx.idx
  /// Entry pcs: by module function index in a program with indirect calls, otherwise those of its
  /// own functions.
  std::vector<std::uint32_t> function_entries;
  std::vector<KernelParameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t rows = 0;  ///< 32-bit rows a warp needs
  /// Rows below this number hold 64-bit values, two each; others 32-bit.
  std::uint32_t pair_rows = 0;
  std::uint32_t predicates = 0;            ///< predicate masks a warp needs
  std::uint32_t registers_per_thread = 0;  ///< registers that occupancy counts
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< bytes per thread: arrays, spills, call frames
  bool recursive = false;         ///< local memory ends with the stack of the recursion
  std::uint32_t barriers = 0;
  std::array<std::uint32_t, 3> required_block{};    ///< .reqntid, zero when absent
  std::uint32_t maximum_threads = 0;                ///< .maxntid, zero when absent
  std::array<std::uint32_t, 3> required_cluster{};  ///< .reqnctapercluster, zero when absent
  std::uint32_t maximum_cluster = 0;                ///< .maxclusterrank, zero when absent
  bool explicit_cluster = false;                    ///< .explicitcluster
  /// Rows live before each pc (lowered programs).
  std::vector<std::array<std::uint64_t, 4>> live_rows;

  /// Returns how many rows the register takes that begins there.
  std::uint32_t width(std::uint32_t row) const { return row < pair_rows ? 2 : 1; }
  bool live_before(std::size_t pc, std::uint32_t row) const {
    return ((live_rows[pc][row / 64] >> row % 64) & 1) != 0;
  }
};

struct GlobalVariable {
  std::string name;
  std::uint64_t bytes = 0, alignment = 1;
  std::vector<std::byte> initial;  ///< initial bytes; empty: zero
  /// An address to be patched into `initial` when globals are placed.
  struct Relocation {
    std::uint64_t offset;
    enum class Target : std::uint8_t { global, constant, function } target;
    /// Unused for a constant: its place in the constant image is part of the addend.
    std::uint32_t index;
    std::int64_t addend;
    std::uint8_t bytes = 8,
                 /// The relocation writes `bytes` bytes of the address, from bit `shift` on.
        shift = 0;
  };
  std::vector<Relocation> relocations;
};

/// Variable at which the blocks of a cooperative grid meet (reader/translation/grid_workspace.cpp).
inline constexpr const char* grid_workspace_name = "%grid_workspace";

/// Variable from whose bytes malloc gives blocks, and a 64-bit variable with its size.  The host
/// gives both their memory (reader/run_time/heap_functions.hpp).
inline constexpr const char* heap_name = "%heap";
inline constexpr const char* heap_bytes_name = "%heap_bytes";

struct Kernel {
  Program reference;  ///< program straight from PTX, which --check interprets
  Program lowered;    ///< the program that the SM runs
};

/// A PTX module: immutable after loading, shared by all components of a rank.
struct Module {
  std::string file;
  std::vector<Kernel> kernels;
  std::vector<GlobalVariable> globals;    ///< .global
  std::vector<std::byte> constant_image;  ///< .const variables, placed and initialised
  std::vector<GlobalVariable::Relocation> constant_relocations;  ///< relocations in constant_image
  std::vector<std::string> functions;  ///< names by function index; [0] stands for null

  /// Returns whether kernels call malloc.
  bool has_heap() const {
    for (const GlobalVariable& global : globals)
      if (global.name == heap_name) return true;
    return false;
  }
  /// Returns whether the kernel's blocks meet at a barrier of the whole grid: no block can then
  /// wait for the end of another.
  bool meets_grid_wide(const Program& kernel) const {
    for (const ConstantRow& row : kernel.constants)
      if (row.source == ConstantRow::Source::global_symbol &&
          globals[row.index].name == grid_workspace_name)
        return true;
    return false;
  }
  /// Returns the kernel's index; -1 when there is no such kernel.
  int kernel_index(const std::string& kernel) const {
    for (std::size_t k = 0; k < kernels.size(); ++k)
      if (kernels[k].reference.name == kernel) return static_cast<int>(k);
    return -1;
  }
};

}  // namespace lockstep::isa
