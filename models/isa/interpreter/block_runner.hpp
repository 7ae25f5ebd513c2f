#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/isa/cluster.hpp"
#include "models/isa/interpreter/access_watch.hpp"
#include "models/isa/interpreter/async_stores.hpp"
#include "models/isa/interpreter/barriers.hpp"
#include "models/isa/interpreter/bulk_copies.hpp"
#include "models/isa/interpreter/cluster_access.hpp"
#include "models/isa/interpreter/inexact/float_trace.hpp"
#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/interpreter/line_warnings.hpp"
#include "models/isa/interpreter/phase_waits.hpp"
#include "models/isa/interpreter/proxy_watch.hpp"
#include "models/isa/interpreter/races/shared_races.hpp"
#include "models/isa/interpreter/straight_code.hpp"
#include "models/isa/interpreter/warp.hpp"
#include "models/isa/interpreter/warpgroup_products.hpp"
#include "models/isa/recent_states.hpp"
#include "models/isa/text/module_text.hpp"

namespace lockstep::isa {

/// State that all blocks of a launch share.
struct LaunchState {
  const Launch& launch;
  const Program& program;
  FlatMemory& memory;
  std::vector<std::uint32_t> constants;    ///< rows of constants
  std::vector<std::byte> constant_memory;  ///< Module::constant_image with addresses
  ModuleText text;
  std::uint32_t threads = 0;  ///< threads of a block
  InterpreterCounts counts;
  FloatTrace* floats;    ///< trace of floats; nullptr if not requested
  bool changed = false;  ///< true: a word of memory changed, or a thread ended, in this turn
  LineWarnings warnings;
  /// The program is as written, with its fences, and has copies that need them.
  const bool reads_asynchronously;
  const bool is_watched;  ///< accesses are watched for races, missing fences or floats
  const StraightCode straight;

  LaunchState(const Launch& given, FlatMemory& flat);
};

WarpIdentity identity_of(const LaunchState& state, std::uint64_t block, std::uint32_t warp);
/// Returns the lanes that are threads.
std::uint32_t lanes_of(const LaunchState& state, std::uint32_t warp);

class ClusterBarrier;
class ClusterRunner;

/// Thread block of a cluster: its warps, shared memory and barriers.
class BlockRunner {
 public:
  enum class Progress : std::uint8_t {
    over,    ///< all threads have ended
    paused,  ///< the block ran out of turns
    stuck,   ///< no warp can run; never the only block of a cluster
  };

  BlockRunner(LaunchState& state, ClusterRunner& cluster, std::uint64_t number, std::uint32_t rank);
  /// Lets the block take part in the barrier of its cluster.
  void join(ClusterBarrier& barrier);

  /// Executes at most about `instructions` warp instructions.
  Progress run(std::uint64_t instructions);
  bool finished() const;
  /// Returns whether some warp can run.
  bool runnable() const;
  /// Lets lanes go on that wait for others of their warp, because no warp can run.  Returns false
  /// if there are none.
  bool unblock();
  /// Ends waits for phases of mbarriers without their phases, when no warp can run otherwise.
  /// Returns false if none waits.
  bool end_phase_waits() { return phase_waits_.end(); }
  /// Returns whether warps have register contents that they did not have recently.
  bool gets_on();
  /// Throws UserError with the positions of this block in a launch without progress, and `more`.
  [[noreturn]] void report_spin(std::uint64_t instructions, const std::string& more) const;
  [[noreturn]] void report_deadlock(const std::string& more) const;
  /// Returns "block (1, 0, 0), warp 0 at line 12" of these lanes.
  std::string standing_text(std::uint32_t w, std::uint32_t lanes) const;

 private:
  friend AccessWatch;  // parts of it, in files of their own
  friend AsyncStores;
  friend BulkCopies;
  friend ClusterAccess;
  friend PhaseWaits;
  friend WarpgroupProducts;
  friend ProxyWatch;
  using Warp = InterpretedWarp;

  void warn_of_absent(Warp& warp);

  // block_runner.cpp
  Progress run_warps(std::uint64_t instructions);
  std::uint64_t run_warp(std::uint32_t w, std::uint64_t budget);
  /// Executes at most `most` instructions of a stretch, and counts them.  Returns false if the next
  /// instruction is of no stretch, or cannot be executed in one now.
  bool run_straight(Warp& warp, std::uint64_t most, InterpreterCounts& counts);
  void control(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void print(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void branch_indexed(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void call_indirect(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void barrier(std::uint32_t w, const Instruction& instruction, std::uint32_t active);
  void warp_sync(Warp& warp, const Instruction& instruction, std::uint32_t active);
  const std::uint32_t* row(const Warp& warp, Operand operand) const;
  /// Returns the file and line at which the warp stands.
  std::string place_of(const Warp& warp) const;
  [[noreturn]] void fail(const Warp& warp, unsigned lane, const std::string& what,
                         const std::string& advice) const;
  /// Makes the lanes that the guard lets through a path of their own at the instruction.
  static void stand_apart(Warp& warp, std::uint32_t active);
  // memory_access.cpp
  /// Returns bytes of this block's shared memory; nullptr: some are outside.
  std::byte* shared_bytes(std::uint64_t offset, std::uint64_t bytes);
  void memory(Warp& warp, const Instruction& instruction, std::uint32_t active);
  /// Returns the bytes of a lane's access. Throws UserError if it is misaligned or in no memory.
  std::byte* locate(Warp& warp, const Instruction& instruction, unsigned lane,
                    std::uint64_t address, unsigned bytes) {
    if (instruction.memory.space == Space::global && (address & (bytes - 1)) == 0) [[likely]]
      if (std::byte* found = state_.memory.find(address, bytes);
          found != nullptr && !state_.memory.is_fresh())
        return found;
    return locate_anywhere(warp, instruction, lane, address, bytes);
  }
  std::byte* locate_anywhere(Warp& warp, const Instruction& instruction, unsigned lane,
                             std::uint64_t address, unsigned bytes);
  /// Notes an access to memory that has never been written.
  void touch_fresh(const Warp& warp, const Instruction& instruction, std::uint64_t address);
  std::byte* local_bytes(Warp& warp, unsigned lane, std::uint64_t offset, unsigned bytes);
  /// Executes a load or store at once for the active lanes of the context. Returns false, with
  /// nothing done, if that cannot be.
  bool move_lanes(const Warp& warp, const Instruction& instruction, const Moves& moves);
  void load(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void store(Warp& warp, const Instruction& instruction, std::uint32_t active);
  /// Returns whether the store will change a word.
  bool changes(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void atomic(Warp& warp, const Instruction& instruction, std::uint32_t active);
  void copy(Warp& warp, const Instruction& instruction, std::uint32_t active);
  // matrix_access.cpp
  void require_whole_warp(const Warp& warp, const Instruction& instruction, std::uint32_t lanes);
  void matrix_access(Warp& warp, const Instruction& instruction, std::uint32_t active);
  std::uint64_t address_of(const Warp& warp, const Instruction& instruction, unsigned lane) const;

  LaunchState& state_;
  ClusterRunner& cluster_;
  const std::uint32_t rank_;  ///< rank in the cluster
  std::vector<Warp> warps_;
  PhaseWaits phase_waits_{*this};
  WarpgroupProducts warpgroups_{*this};
  std::vector<std::uint32_t> register_file_, predicate_file_;
  std::vector<std::byte> shared_;
  NamedBarriers barriers_;
  std::unique_ptr<SharedRaces> races_;  ///< races in shared memory; nullptr if not requested
  ProxyWatch proxies_{*this};
  AccessWatch watch_{*this};
  ClusterAccess in_cluster_{*this};
  WarpContext context_;
  std::array<std::uint32_t, 8 * warp_size> scratch_{};
  std::uint64_t steps_ = 0;
  std::vector<RecentStates> states_;  ///< recent states of each warp; empty if not requested
};

}  // namespace lockstep::isa
