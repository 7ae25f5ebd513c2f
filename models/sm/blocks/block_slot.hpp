#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "models/noc/grid_messages.hpp"
#include "models/sm/blocks/spare_registers.hpp"
#include "models/sm/blocks/touched_words.hpp"
#include "models/sm/blocks/warp.hpp"
#include "models/sm/blocks/warpgroup_progress.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// A named barrier of a block.  Barriers count threads.
/// Source: PTX ISA, "bar / barrier"; architecture.md, section 8 "Divergence".
struct NamedBarrier {
  std::uint32_t arrived = 0;          ///< threads that have arrived
  std::uint32_t expected = 0;         ///< expected threads; 0: all that have not exited
  std::uint32_t population : 31 = 0;  ///< bar.red: threads whose predicate holds
  std::uint32_t some_do_not_hold : 1 = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    std::uint32_t both = population | static_cast<std::uint32_t>(some_do_not_hold) << 31;
    archive(arrived, expected, both);
    population = both & 0x7fffffff;
    some_do_not_hold = both >> 31;
  }
};

/// A path of a warp that waits for the phase of an mbarrier.
struct PhaseWait {
  std::uint8_t warp = 0;  ///< number of the warp in the block
  std::uint32_t pc = 0;   ///< pc of the mbarrier_wait
  /// Lanes that stand at the wait, and those among them that the guard lets through.
  std::uint32_t path = 0, active = 0;
  SmCycle until;  ///< cycle at which the path goes on without the phase

  template <class Archive>
  void serialize(Archive& archive) {
    archive(warp, pc, path, active, until);
  }
};

/// Progress of a thread block so far, if a preemption wants to know.
struct BlockProgress {
  InstructionCount executed;
  SmCycle began;           ///< cycle at which the block began, moved by its cycles in memory
  bool idempotent = true;  ///< the block may be dropped and run again from its start
  TouchedWords words{};    ///< words touched, if they decide idempotence
  std::uint32_t ended_by = no_instruction;  ///< pc of the instruction that ended idempotence

  static constexpr std::uint32_t no_instruction = ~0u;

  void count(std::uint64_t warp, std::uint64_t threads) { executed += {warp, threads}; }
  void end_idempotence(std::uint32_t pc) {
    if (idempotent) ended_by = pc;
    idempotent = false;
  }
  BlockWork work(SmCycle now) const { return {executed, static_cast<std::uint64_t>(now - began)}; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(executed, began, idempotent, words, ended_by);
  }
};

/// A thread block in its slot.
struct BlockSlot {
  bool used = false;
  bool has_let_go = false;  ///< a thread has executed griddepcontrol.launch_dependents
  std::uint8_t grid = 0;
  std::uint32_t entry = 0;  ///< number among the blocks that have come to the SM
  std::uint64_t index = 0;  ///< index in the grid
  std::array<std::uint32_t, 3> coordinates{};
  std::uint64_t warps = 0;  ///< mask of warp slots
  std::uint32_t alive_threads = 0, warps_left = 0;
  std::uint32_t shared_base = 0, shared_bytes = 0;
  std::uint32_t first_row = 0, rows = 0;  ///< rows in the register arena
  std::uint32_t gathering = 0;            ///< bit n: threads have arrived at barriers[n]
  std::array<NamedBarrier, 16> barriers{};
  /// Places of the warps' local memory; empty: each warp uses that of its slot.
  std::vector<LocalHome> homes;
  BlockProgress progress;
  std::vector<PhaseWait> phase_waits;  ///< phase waits in the order in which they began
  /// Progress of each warp group; empty: none has multiplied.
  std::vector<WarpgroupProgress> warpgroups;
  SpareRegisters spare_registers;

  bool waits_for_phase(std::uint8_t warp) const {
    return std::ranges::any_of(phase_waits, [&](const auto& wait) { return wait.warp == warp; });
  }
  /// `first`: first home of the SM.
  bool owns(LocalHome home, LocalHome first) const {
    if (homes.empty()) return (warps >> (home.value() - first.value()) & 1) != 0;
    return std::find(homes.begin(), homes.end(), home) != homes.end();
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(used, grid, entry, index, coordinates, warps, alive_threads, warps_left, shared_base,
            shared_bytes, first_row, rows, gathering, barriers, homes, progress, phase_waits,
            warpgroups, spare_registers, has_let_go);
  }
};

}  // namespace lockstep
