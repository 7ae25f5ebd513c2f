#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/isa/load.hpp"
#include "models/isa/program.hpp"
#include "models/noc/grid_counts.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/sm/blocks/buffer_bounds.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/tables/constant_rows.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// A grid that has or may get blocks here, with the state that its warps share.
struct GridSlot {
  bool used = false;
  bool ended = false;    ///< true: no more blocks will come
  bool stopped = false;  ///< a more urgent grid gets the SM: no block starts or returns
  Technique makes_room = Technique::drain;  ///< technique by which blocks on chip leave
  bool clears = false;                      ///< the grid is stopped, and blocks are still here
  GridLaunch launch;
  BlockResources block;
  std::uint32_t resident_blocks = 0;
  std::uint32_t blocks_in_memory = 0;  ///< blocks in memory that will return
  std::vector<std::byte> parameters;
  BufferBounds bounds;
  std::vector<std::uint64_t> globals;  ///< addresses of the module's .global variables
  /// The module's constant variables, if addresses had to be written into them.
  std::vector<std::byte> relocated_image;
  ConstantRows::Rows constants;
  SmCycle parameters_ready;  ///< cycle from which the grid's warps can issue; no_cycle: unknown yet
  std::vector<bool> ends_idempotence;  ///< flag of each pc; empty: blocks are not followed
  /// Counts of the grid.  The counts are members because this object is in the cache at issue;
  /// sampling adds them to the statistics.
  GridCounts counts;
  GridCounts untaken;  ///< counts in the statistics that /kernels lacks yet
  /// Instructions in the statistics that no block's end has reported yet.
  InstructionCount unreported;

  /// Sets the members that follow from `launch`, `parameters` and `globals`.
  void find_program(const SmSetup& setup) {
    module = setup.modules[launch.module];
    program = &module->kernels[launch.kernel].lowered;
    issue = &setup.issue_tables->of(launch.module, launch.kernel);
    instructions = issue->instructions.data();
    if (setup.follows_blocks) find_overwrites(setup.idempotence);
    constants = setup.constant_rows->share(isa::fill_constants(*program, parameters, globals));
    // Immediates and constants are only read; the context has one type for all bases.
    operands_.bases[isa::Operand::immediates] =
        const_cast<std::uint32_t*>(program->immediates.data());
    operands_.bases[isa::Operand::constants] = const_cast<std::uint32_t*>(constants->data());
    operands_.lists = issue->operand_lists.data();
    register_words_ = std::size_t{issue->rows} * isa::warp_size;
  }

  std::uint32_t* predicates_behind(std::uint32_t* registers) const {
    return registers + register_words_;
  }
  /// Returns where the operands of a warp with these registers stand.  A row of predicates (or two)
  /// stands behind the registers.
  isa::WarpContext context_of(std::uint32_t* registers, std::uint32_t* scratch_rows) const {
    isa::WarpContext context;
    context.bases[isa::Operand::registers] = registers;
    context.bases[isa::Operand::immediates] = operands_.bases[isa::Operand::immediates];
    context.bases[isa::Operand::constants] = operands_.bases[isa::Operand::constants];
    context.bases[isa::Operand::scratch] = scratch_rows;
    context.lists = operands_.lists;
    context.predicates = predicates_behind(registers);
    return context;
  }
  /// Returns whether a single buffer of the tenant has all bytes that the instruction at `pc`
  /// accesses.
  bool holds(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes) {
    return bounds.holds(pc, address, bytes) ||
           bounds.recall(pc, address, bytes, issue->global_use.addresses[pc], parameters);
  }
  std::uint32_t rows_per_warp() const { return issue->rows + 2; }

  void serialize(Archive& archive) {
    archive(used, ended, stopped, makes_room, clears, launch, block, resident_blocks,
            blocks_in_memory, globals, counts, untaken, unreported, parameters, relocated_image,
            parameters_ready, bounds);
  }

  const isa::Module* module = nullptr;
  const isa::Program* program = nullptr;
  const IssueTable* issue = nullptr;
  const isa::Instruction* instructions = nullptr;  ///< instructions as the SM executes them

 private:
  void find_overwrites(IdempotenceCheck check) {
    ends_idempotence.assign(program->instructions.size(), false);
    const bool by_words = check == IdempotenceCheck::words;
    for (const isa::GlobalUse::Write& write : issue->global_use.writes)
      ends_idempotence[write.pc] =
          isa::ends_idempotence(write, by_words ? launch.pinned : launch.overwritten);
    for (std::size_t pc = 0; by_words && pc < ends_idempotence.size(); ++pc)
      if (issue->records[pc].flags & IssueRecord::ordered_before) ends_idempotence[pc] = true;
  }

  isa::WarpContext operands_;  ///< operands that all warps share
  std::size_t register_words_ = 0;
};

}  // namespace lockstep
