#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/isa/interpreter/barriers.hpp"
#include "models/isa/interpreter/inexact/float_trace.hpp"
#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/interpreter/line_warnings.hpp"
#include "models/isa/interpreter/races/shared_races.hpp"
#include "models/isa/interpreter/warp.hpp"
#include "models/isa/interpreter/word_access.hpp"
#include "models/isa/recent_states.hpp"
#include "models/isa/text/module_text.hpp"

namespace lockstep::isa {

/// What all blocks of a launch share.
struct LaunchState {
  const Launch& launch;
  const Program& program;
  FlatMemory& memory;
  std::vector<std::uint32_t> constants;    ///< rows
  std::vector<std::byte> constant_memory;  ///< Module::constant_image with addresses
  ModuleText text;
  std::uint32_t threads = 0;  ///< per block
  InterpreterCounts counts;
  FloatTrace* floats;    ///< null when nobody asks
  bool changed = false;  ///< a word of memory was, or a thread ended, in this turn
  LineWarnings warnings;

  LaunchState(const Launch& given, FlatMemory& flat);
};

WarpIdentity identity_of(const LaunchState& state, std::uint64_t block, std::uint32_t warp);
/// Those that are threads.
std::uint32_t lanes_of(const LaunchState& state, std::uint32_t warp);

/// A path of a warp that waits for the phase of an mbarrier.
struct PhaseWaiter {
  std::uint32_t warp = 0, pc = 0;
  std::uint32_t path = 0, active = 0;  ///< lanes: all that stand there, those that the guard lets
};

/// One thread block: its warps, shared memory and barriers.
class BlockRunner {
 public:
  BlockRunner(LaunchState& state, std::uint64_t number);

  /// Executes at most about `instructions` warp instructions; true when all threads have ended.
  bool run(std::uint64_t instructions);
  /// Warps have registers that they did not have lately.
  bool gets_on();
  /// Throws UserError that says where this block of a launch that does not get on stands.
  [[noreturn]] void report_spin(std::uint64_t instructions) const;

 private:
  using Warp = InterpretedWarp;

  /// No warp can run: lets lanes go on that wait for others of their warp; false: none can.
  bool unblock();
  void warn_of_absent(Warp& warp);

  // block_runner.cpp
  bool run_warps(std::uint64_t instructions);
  std::uint64_t run_warp(std::uint32_t w, std::uint64_t budget);
  void control(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void print(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void branch_indexed(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void call_indirect(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void barrier(std::uint32_t w, const Instruction& instruction, std::uint32_t active);
  void warp_sync(Warp& warp, const Instruction& instruction, std::uint32_t active);
  const std::uint32_t* row(const Warp& warp, Operand operand) const;
  /// File and line that it stands at.
  std::string place_of(const Warp& warp) const;
  [[noreturn]] void fail(const Warp& warp, unsigned lane, const std::string& what,
                         const std::string& advice) const;
  [[noreturn]] void report_deadlock() const;
  // memory_access.cpp
  void memory(Warp& warp, const Instruction& instruction, std::uint32_t active);
  std::byte* locate(Warp& warp, const Instruction& instruction, unsigned lane,
                    std::uint64_t address, unsigned bytes);
  /// Something happens to memory to which nothing was written.
  void touch_fresh(const Warp& warp, const Instruction& instruction, std::uint64_t address);
  std::byte* local_bytes(Warp& warp, unsigned lane, std::uint64_t offset, unsigned bytes);
  WordAccess words(const Warp& warp, const Instruction& instruction, std::uint32_t active);
  void load(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void store(Warp& warp, const Instruction& instruction, std::uint32_t active);
  /// The store will change a word.
  bool changes(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void atomic(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void copy(Warp& warp, const Instruction& instruction, std::uint32_t active);
  // phase_waits.cpp
  void change_barriers(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void wait_for_phase(Warp& warp, const Instruction& instruction, std::uint32_t active);
  std::byte* barrier_at(const Warp& warp, const Instruction& instruction, unsigned lane,
                        std::uint64_t address);
  std::uint32_t lanes_with_phase_over(Warp& warp, const Instruction& instruction, std::uint32_t pc,
                                      std::uint32_t lanes);
  void let_waiter_go(const PhaseWaiter& waiter, std::uint32_t complete);
  void wake_waiters();
  /// No warp can run: waits for phases end without them.  False: none waits.
  bool end_waits();
  /// What the last of them waited for; "" if its phase has ended meanwhile, or there was none.
  std::string last_wait() const;
  // matrix_access.cpp
  void require_whole_warp(const Warp& warp, const Instruction& instruction, std::uint32_t lanes);
  void matrix_access(Warp& warp, const Instruction& instruction, std::uint32_t active);
  std::uint64_t address_of(const Warp& warp, const Instruction& instruction, unsigned lane) const;
  // watched_access.cpp
  void watch(const Warp& warp, const Instruction& instruction, std::uint32_t active);
  /// `lanes` of the warp execute an instruction, each with the lanes that its mask names.
  void meet(const Warp& warp, const std::uint32_t* masks, std::uint32_t lanes);
  void watch_matrices(const Warp& warp, const Instruction& instruction);
  void watch_races(const Warp& warp, std::uint32_t pc, const Instruction& instruction,
                   std::uint32_t active);
  void trace_floats(const Warp& warp, const Instruction& instruction, std::uint32_t active);
  void trace_stores(const Warp& warp, const Instruction& instruction, std::uint32_t active);
  void trace_addition(const Warp& warp, const Instruction& instruction, unsigned lane,
                      std::uint64_t address);

  LaunchState& state_;
  std::vector<Warp> warps_;
  std::vector<PhaseWaiter> waiters_;  ///< in the order in which they began
  PhaseWaiter last_ended_;            ///< whose wait ended without its phase; no lanes: none
  std::vector<std::uint32_t> register_file_, predicate_file_;
  std::vector<std::byte> shared_;
  NamedBarriers barriers_;
  std::unique_ptr<SharedRaces> races_;  ///< null when nobody asks
  const bool is_watched_;               ///< races or floats
  WarpContext context_;
  std::array<std::uint32_t, 8 * warp_size> scratch_{};
  std::uint64_t steps_ = 0;
  std::vector<RecentStates> states_;  ///< by warp; empty: nobody has asked
};

}  // namespace lockstep::isa
