/// Purely functional execution of a launch: no timing, flat memory.
///
/// Runs the reference program - PTX before lowering - so that lowering and the timed machine can be
/// checked against it.  Blocks run in slices: a block that does not end (because it waits for the
/// flag of another one) gives way, so persistent kernels finish.
/// Source: architecture.md, section 8, "What --check means".
///
/// Simplified: threads run in one order, so that results which depend on the order of atomics are
/// one of the possible ones. Every access is immediately visible to all. The place and time of a
/// warp are unknown: %smid, %warpid, %gridid, the clocks and %globaltimer differ from those of the
/// machine.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/isa/cluster.hpp"
#include "models/isa/interpreter/flat_memory.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Properties of the whole machine that kernels can read as %nsmid and %nwarpid, and on which they
/// may rely.
struct MachineSize {
  std::uint32_t sms = 1, warps_of_an_sm = 64;
  std::uint32_t turn = 64;  ///< turn of paths that wait for each other, see WarpPaths; 0: no turns
};

class FloatTrace;
class RaceList;

struct Launch {
  const Module& module;
  int kernel = 0;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  ///< parameters in the layout of Program::parameters
  std::vector<std::uint64_t> global_addresses{};  ///< addresses of Module::globals in the memory
  ClusterShape cluster = no_cluster;
  bool is_explicit_cluster = false;  ///< the launch or the kernel names a cluster size
  MachineSize machine{};
  bool lowered = false;  ///< true: run Kernel::lowered instead
  /// Executions of each instruction, by pc; null: not counted.
  std::vector<std::uint64_t>* executions = nullptr;
  /// Output of printf, one text for each time that lanes of a warp printed together; null: not
  /// kept.
  std::vector<std::string>* printed = nullptr;
  /// Races of threads of a block in shared memory (races/shared_races.hpp); null: not looked for.
  RaceList* races = nullptr;
  /// Trace of floats that depend on the order of threads; null: not followed.
  FloatTrace* floats = nullptr;
  /// Warnings for the user, at most one text for each line of PTX; null: none are made.
  std::vector<std::string>* warnings = nullptr;
  /// Function that hears where a kernel loads, from `address`, the first byte of fresh memory; may
  /// be empty.
  std::function<void(std::uint64_t address, const std::string& where)> fresh_read{};
  /// Function that is called before each turn of a block, and may throw to leave the launch; may be
  /// empty.
  std::function<void()> between_blocks{};
};

struct InterpreterCounts {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t issue_slots = 0;  ///< issue slots of the machine's instructions

  InterpreterCounts& operator+=(const InterpreterCounts& other);
};

/// Runs a whole launch.  Throws UserError that names kernel, block, thread, PTX line and address
/// for accesses outside of allocations, misaligned ones, traps, deadlocks and endless loops.
InterpreterCounts interpret(const Launch& launch, FlatMemory& memory);

/// Runs launches, at least one, that are under way at the same time and may wait for each other:
/// their blocks take turns.
InterpreterCounts interpret(std::span<const Launch> launches, FlatMemory& memory);

/// Runs a whole launch on `threads` threads, if the order of the kernel's blocks does not matter.
/// Blocks that print, or that have atomics, fences or ordered accesses (volatile, relaxed, acquire,
/// release) to memory that others see, run on one thread.  So memory and counts are the same as on
/// one thread, even if blocks wait for each other.  Unordered plain accesses of other blocks are
/// seen as a whole or not at all.
InterpreterCounts interpret(const Launch& launch, FlatMemory& memory, unsigned threads);

}  // namespace lockstep::isa
