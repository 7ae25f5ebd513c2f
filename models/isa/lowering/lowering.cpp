/// Lowering of PTX over virtual registers to machine-like operations in registers.
///
/// Simplifying passes run until nothing changes (their patterns feed each other), then control flow
/// is predicated, constants are fitted into operands, operations are scheduled, preemption points
/// placed, if wanted, and registers allocated.  Source: architecture.md section 3; the file of each
/// pass names what it imitates.
#include "models/isa/lowering/lowering.hpp"

#include <algorithm>

#include "models/isa/lowering/allocation/allocate.hpp"
#include "models/isa/lowering/allocation/passes.hpp"
#include "models/isa/lowering/branches/passes.hpp"
#include "models/isa/lowering/memory/passes.hpp"
#include "models/isa/lowering/memory/shared_layout.hpp"
#include "models/isa/lowering/preemption_points.hpp"
#include "models/isa/lowering/schedule/schedule.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa {

LoweringOptions LoweringOptions::none() {
  LoweringOptions options;
  options.propagate_copies = options.fold_constants = options.fold_parameters = false;
  options.fold_addresses = options.fuse_integers = options.merge_logic = false;
  options.eliminate_common = options.eliminate_dead = options.hoist_invariants = false;
  options.predicate_branches = options.simplify_flow = options.schedule = false;
  options.fold_signs = options.merge_loads = false;
  return options;
}

namespace {

void simplify(ir::Function& function, const LoweringOptions& options) {
  constexpr int enough = 20;
  bool changed = true;
  for (int round = 0; changed && round < enough; ++round) {
    changed = false;
    if (options.propagate_copies) changed = lowering::propagate_copies(function) || changed;
    if (options.fold_constants)
      changed = lowering::fold_constants(function, options.fold_parameters) || changed;
    if (options.fold_addresses) changed = lowering::fold_addresses(function) || changed;
    if (options.eliminate_common) changed = lowering::eliminate_common(function) || changed;
    if (options.eliminate_dead) changed = lowering::eliminate_dead(function) || changed;
    if (options.merge_logic) changed = lowering::merge_logic(function) || changed;
    if (options.fold_signs) changed = lowering::fold_signs(function) || changed;
    if (options.fuse_integers) changed = lowering::fuse_integers(function) || changed;
    if (options.simplify_flow) changed = lowering::simplify_flow(function) || changed;
  }
  if (options.eliminate_dead) lowering::eliminate_dead(function);
}

void unroll_and_merge(ir::Function& function, const LoweringOptions& options) {
  if (options.unroll_loops && lowering::unroll_loops(function)) simplify(function, options);
  if (options.merge_loads && lowering::merge_loads(function, options.unroll_loops))
    simplify(function, options);
}

}  // namespace

namespace {

/// Erases fences that order nothing here; checks of the program as read still use them.
void take_away_fences_of_proxies(ir::Function& function) {
  for (ir::Block& block : function.blocks)
    std::erase_if(block.operations, [](const ir::Operation& operation) {
      return operation.opcode == Opcode::fence && operation.ordering == Ordering::weak;
    });
}

/// Returns the rows that a schedule may use.  Warps that take registers from others (setmaxnreg)
/// have them for all of their code.
lowering::RowLimit row_limit(const ir::Function& function, const LoweringOptions& options) {
  // ptxas uses up to 32 registers freely: as many threads fit on an SM as with fewer.
  constexpr std::uint32_t live_rows_worth_having = 26;
  const std::uint32_t given = std::min(most_registers_given(function), options.maximum_registers);
  if (given > live_rows_worth_having + lowering::reserved_registers)
    return {.rows = given - lowering::reserved_registers, .given = true};
  return {.rows = live_rows_worth_having, .grows = options.unroll_loops && options.rows_may_grow};
}

}  // namespace

std::uint32_t most_registers_given(const ir::Function& function) {
  std::uint32_t most = 0;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (operation.opcode == Opcode::setmaxnreg) most = std::max(most, operation.immediate);
  return most;
}

void rewrite(ir::Function& function, const LoweringOptions& options) {
  take_away_fences_of_proxies(function);
  if (options.simplify_flow) lowering::simplify_flow(function);
  if (options.fold_addresses) lowering::place_shared(function);
  simplify(function, options);
  unroll_and_merge(function, options);
  if (options.hoist_invariants && lowering::hoist_invariants(function)) simplify(function, options);
  if (options.predicate_branches && lowering::predicate_branches(function)) {
    simplify(function, options);
    // Loops without inner branches have one block now.
    if (options.unroll_loops) unroll_and_merge(function, options);
  }
  lowering::legalize_operands(function);
  if (options.propagate_copies) lowering::coalesce_copies(function);
  lowering::separate_vector_elements(function);
  if (options.eliminate_dead) lowering::eliminate_dead(function);
  if (options.schedule) lowering::schedule(function, row_limit(function, options));
  if (options.preemption_points)
    lowering::place_preemption_points(function, lowering::preemption_point_interval);
}

Allocation lower(ir::Function& function, const LoweringOptions& options) {
  rewrite(function, options);
  return lowering::allocate(function, options.maximum_registers, options.maximum_predicates);
}

}  // namespace lockstep::isa
