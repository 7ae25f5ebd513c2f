#pragma once

#include <cstdint>
#include <optional>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/allocation.hpp"
#include "models/isa/matrix/form.hpp"

namespace lockstep::isa {

/// Options of the lowering.  Each pass can be switched off; memory contents stay the same.
struct LoweringOptions {
  bool propagate_copies = true;
  bool fold_constants = true;
  bool fold_parameters = true;  ///< parameters are constant operands of their users
  bool fold_addresses = true;   ///< base + constant into the offset; shared variables are placed
  bool fuse_integers = true;    ///< mad, lea, iadd3, mad_wide_add
  bool fold_signs = true;       ///< negations of floats into their readers
  bool merge_loads = true;      ///< neighbouring shared and local loads to vectors
  bool merge_logic = true;      ///< lop3 from two logic operations, setp/selp simplification
  bool eliminate_common = true;
  bool eliminate_dead = true;
  bool hoist_invariants = true;
  bool predicate_branches = true;
  /// Innermost counted loops are unrolled by four, as the machine's compiler does.
  bool unroll_loops = false;
  bool simplify_flow = true;  ///< jump threading, empty and unreachable blocks, layout
  bool schedule = true;
  /// With unroll_loops: code with many live rows still moves loads ahead.
  bool rows_may_grow = true;
  bool preemption_points = false;  ///< saved warps stop at points that the code names
  /// Arithmetic of the machine's matrix units; nothing: it has none.
  std::optional<MatrixArithmetic> matrices = MatrixArithmetic::ampere;
  bool bulk_copies = true;                ///< the machine has an engine for them
  bool clusters = true;                   ///< the machine has thread block clusters
  std::uint32_t maximum_registers = 255;  ///< rows above which registers spill
  std::uint32_t maximum_predicates = 32;

  /// Returns options without the optional passes: only register allocation is left, which encode
  /// needs.
  static LoweringOptions none();
};

/// Returns the most registers that a setmaxnreg of the code gives a warp; 0: it has none.
std::uint32_t most_registers_given(const ir::Function& function);
/// Rewrites `function` in place into machine-like operations, regardless of the maxima.
void rewrite(ir::Function& function, const LoweringOptions& options = {});
/// Rewrites `function` in place as rewrite() does, and allocates its registers.
/// Spills are `Opcode::spill` (sources: [0] none, [1] the register; `offset` = thread-local byte
/// offset, type b32 or b64) and `Opcode::fill` (destination [0], source [0] none, same offset).
Allocation lower(ir::Function& function, const LoweringOptions& options = {});

}  // namespace lockstep::isa
