#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/dispatch/occupancy.hpp"
#include "models/isa/load.hpp"
#include "models/isa/program.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/constant_rows.hpp"
#include "models/sm/issue_tables.hpp"

namespace lockstep {

/// A grid that has or may get blocks here: what its warps share.
struct GridSlot {
  bool used = false;
  bool ended = false;  ///< no more blocks will come
  GridLaunch launch;
  BlockResources block;
  std::uint32_t resident_blocks = 0;
  std::vector<std::byte> parameters;
  std::vector<std::uint64_t> globals;  ///< addresses of the module's .global variables
  /// The module's constant variables, if addresses had to be written into them.
  std::vector<std::byte> relocated_image;
  ConstantRows::Rows constants;
  // Counted here, per grid, because it is near at issue; added to the statistics when sampled.
  std::uint64_t issue_slots = 0, warp_instructions = 0, thread_instructions = 0;
  InstructionCount unreported;  ///< of those in the statistics, not yet told with a block's end

  /// Sets what follows from `launch`, `parameters` and `globals`.
  void find_program(std::span<const isa::Module* const> modules, const IssueTables& tables,
                    ConstantRows& constant_rows) {
    module = modules[launch.module];
    program = &module->kernels[launch.kernel].lowered;
    instructions = tables.instructions(launch.module, launch.kernel).data();
    records = tables.records(launch.module, launch.kernel).data();
    constants = constant_rows.share(isa::fill_constants(*program, parameters, globals));
  }

  const isa::Module* module = nullptr;
  const isa::Program* program = nullptr;
  const isa::Instruction* instructions = nullptr;  ///< as the SM executes them
  const IssueRecord* records = nullptr;
};

}  // namespace lockstep
