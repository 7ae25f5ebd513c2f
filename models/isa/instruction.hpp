#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/isa/opcode.hpp"
#include "models/isa/types.hpp"

namespace lockstep::isa {

struct Instruction;
struct WarpContext;

/// Semantics of an instruction over the 32 lanes of a warp; writes only lanes in `active`.
using Execute = void (*)(const Instruction&, WarpContext&);

/// Where an operand's 32 lanes stand: a base in the two top bits, a row number in the rest.
/// A row is 32 lanes of 32 bits; a 64-bit value takes two rows, stored as 32 consecutive 64-bit
/// lanes.  8- and 16-bit values occupy the low bits of 32-bit lanes, zero-extended.
class Operand {
 public:
  enum Base : std::uint16_t {
    registers = 0,   ///< rows of the warp
    immediates = 1,  ///< Program::immediates, equal for all warps
    constants = 2,   ///< kernel parameters and symbol addresses, equal within a grid
    scratch = 3,     ///< rows of short-lived values: discarded results, and values used at once
  };
  static constexpr std::uint16_t largest_row = 0x3fff;
  constexpr Operand() = default;
  constexpr Operand(Base base, std::uint16_t row)
      : code_(static_cast<std::uint16_t>(base << 14 | row)) {}
  constexpr Base base() const { return static_cast<Base>(code_ >> 14); }
  constexpr std::uint16_t row() const { return code_ & largest_row; }
  constexpr bool valid() const { return code_ != 0xffff; }
  constexpr bool is_register() const { return valid() && base() == registers; }
  constexpr std::uint16_t code() const { return code_; }
  constexpr bool operator==(const Operand&) const = default;

 private:
  std::uint16_t code_ = 0xffff;
};

inline constexpr std::uint8_t no_predicate = 0xff;

/// Rows of an instruction with more operands than its record holds, in PTX order, all of them
/// valid.
struct OperandList {
  std::vector<Operand> destinations, sources;
};

/// How the SM handles it.
enum class Category : std::uint8_t {
  arithmetic,  ///< `execute` does all the work
  load,
  store,
  atomic,  ///< memory atomic: global, local, shared, constant; see `memory`
  prefetch,
  copy,        ///< asynchronous copy from global to shared memory
  copy_group,  ///< commits asynchronous copies, or waits; `detail`: ir::CopyGroupStep, `target`: N
  /// Copy of many bytes by the SM's bulk engine; `detail`: L2Hint, `target`: BulkCopyForm.
  bulk_copy,
  /// Writes to, or reduces in, shared memory of a block of the cluster, and completes transactions
  /// of an mbarrier there (st.async, red.async): `memory` says the type, how many elements, and the
  /// operation (none: a store).
  async_store,
  bulk_group,  ///< commits bulk stores, or waits; `detail`: ir::BulkGroupStep, `target`: N
  /// Product of four warps with operands in shared memory, done by `execute`; no warp waits for it.
  warpgroup_product,
  warpgroup_step,  ///< `detail`: ir::WarpgroupStep, `target`: N of a wait
  register_limit,  ///< registers for the warp; `detail`: 1 takes some, `target`: how many
  fence,
  shuffle_vote,  ///< shfl, vote, match, activemask, redux: `execute`, all lanes at once
  branch,
  branch_indexed,
  call,
  call_indirect,
  ret,
  exit,
  trap,
  barrier,
  cluster_barrier,  ///< `detail`: ir::ClusterBarrierStep; memory.ordering
  phase_wait,       ///< waits for a phase of an mbarrier, or asks for it; `detail`: PhaseWaitMode
  warp_barrier,
  print,            ///< `detail`: ir::PrintStep; executed by WarpPrint
  sleep,            ///< nanosleep
  grid_dependency,  ///< order between grids that overlap; `detail`: ir::GridDependencyStep
  nop,
};

constexpr bool is_memory(Category c) {
  return c == Category::load || c == Category::store || c == Category::atomic ||
         c == Category::prefetch || c == Category::copy;
}

/// Execution unit class; latency and initiation interval of each come from the configuration.
enum class Unit : std::uint8_t {
  integer,
  fp32,
  fp64,
  special,
  half,
  memory,
  control,
  tensor,  ///< matrices
  count,
};
/// Latency class within a unit (gpu-parameters.md, sections 4 and 5); matrix products have a class
/// for each form (modern-isa.md, section 4.1).
enum class LatencyClass : std::uint8_t {
  integer,
  integer_multiply,
  fp32,
  fp64,
  special,
  half,
  convert,
  pack,
  shuffle,
  move,
  predicate,
  control,
  mma_f16_k8,
  mma_f16_k16,
  mma_f16_volta,
  wmma_f16_volta,
  mma_tf32_k4,
  mma_tf32_k8,
  mma_s8_m8,
  mma_s8_k16,
  mma_s8_k32,
  mma_s4_m8,
  mma_s4_k32,
  mma_s4_k64,
  mma_b1_m8,
  mma_b1_k128,
  mma_b1_k256,
  mma_fp8_k16,
  mma_fp8_k32,
  mma_f64_m8,
  mma_f64_k4,
  mma_f64_k8,
  mma_f64_k16,
  count,
};

/// Fields of a memory instruction.
struct MemoryFields {
  Space space = Space::none;
  Type type = Type::none;     ///< type of one element in memory; loads extend by its signedness
  std::uint8_t elements = 1;  ///< 1, 2 or 4
  CacheOperator cache = CacheOperator::none;
  Ordering ordering = Ordering::weak;
  Scope scope = Scope::none;
  AtomicOperation atomic = AtomicOperation::none;
  bool returns = true;  ///< atomic: the old value is read; false: a reduction
  /// Bytes of one register for the data; 8: a row pair.  Loads extend to them by the type's
  /// signedness, with zeros above 16-bit registers.
  std::uint8_t register_bytes = 4;
};

/// Decoded instruction, as large as a cache line.  sources_of and destinations_of
/// (operand_lists.hpp) return all rows that it reads and writes.
struct alignas(64) Instruction {
  Execute execute = nullptr;
  std::array<Operand, 4> destination{};  ///< ld.v4: four; others usually one
  /// Memory: source[0] is the address (invalid: `offset` is the address), source[1..4] the data of
  /// a store or the operands of an atomic.  Addresses of shared and local memory count from the
  /// start of their window; generic ones include its base, those of constants and parameters too.
  /// A copy: source[1] the address in shared memory, source[2] (invalid: all) how many bytes to
  /// read. A bulk_copy: source[1] in its low half the address in shared memory, in its high half
  /// that of an mbarrier; source[2] the bytes; all of 64 bits. One of a tile: source[0] the address
  /// of its map, source[2..4] pairs of coordinates.  A bulk_copy to
  /// several blocks of a cluster has their mask behind: bytes in source[3], a tile as one more
  /// coordinate.  A bulk_copy that sends: source[0] the address in the block's shared memory.
  /// An async_store: source[0] in its low half the address, in its high half that of an mbarrier,
  /// both in shared memory of the cluster; source[1..4] the data.  A phase_wait: source[1] the
  /// parity, source[2] (invalid: none) nanoseconds.  Barrier: source[0] number, source[1] thread
  /// count (flag_count_given).  Others: in PTX order.
  std::array<Operand, 5> source{};
  std::array<std::uint8_t, 2> predicate_destination{no_predicate, no_predicate};
  std::array<std::uint8_t, 2> predicate_source{no_predicate, no_predicate};
  std::uint8_t guard = no_predicate;
  bool guard_negated = false;
  Category category = Category::arithmetic;
  Unit unit = Unit::integer;
  LatencyClass latency_class = LatencyClass::integer;
  std::uint8_t issue_slots = 1;  ///< issue slots that the expansion of ptxas has and occupies
  Opcode opcode = Opcode::nop;
  MemoryFields memory;
  /// Byte offset of a memory operand; number of the program's operand list (flag_listed); otherwise
  /// an opcode-specific immediate.
  std::int32_t offset = 0;
  std::uint32_t target = 0;  ///< branch or call target pc; index of a branch table; expansion
  std::uint32_t reconvergence =
      0;                     ///< pc of the immediate post-dominator; `no_reconvergence` if none
  std::uint16_t flags = 0;   ///< see InstructionFlag
  std::uint16_t detail = 0;  ///< opcode-specific: barrier number, shuffle mode, ...
};
static_assert(sizeof(Instruction) == 64);
inline constexpr std::uint32_t no_reconvergence = 0xffffffff;

enum InstructionFlag : std::uint16_t {
  flag_uniform = 1,           ///< bra.uni, call.uni
  flag_source_negated_0 = 2,  ///< predicate_source[0] is negated
  flag_source_negated_1 = 4,
  flag_barrier_arrive = 8,    ///< bar.arrive: does not wait
  flag_barrier_reduce = 16,   ///< bar.red: `detail` bits 8..9 say popc, and, or
  flag_needs_all_lanes = 32,  ///< .sync with a member mask: waits until those lanes are there; the
                              ///< mask stands in the last valid source
  flag_address_wide =
      64,  ///< memory, call_indirect: source[0] has 64 bits; otherwise 32, zero-extended
  flag_count_given = 128,       ///< barrier: source[1] holds the number of threads
  flag_preemption_point = 256,  ///< barrier, nop: a warp that is to be saved stops in front of it
  flag_decides_wait = 512,      ///< branch: its decision depends on memory that other threads may
                                ///< write, see waiting_loops
  flag_strong_wait = 1024,      ///< branch: its decision depends on atomics or strong loads
  flag_listed = 2048,  ///< arithmetic: its rows stand in an operand list, its own arrays are empty
};

/// Registers and predicates that an instruction reads or writes, for the scoreboard: 256 rows, 32
/// predicates.  The instruction may issue when none of these bits is pending.
struct alignas(8) ScoreboardNeed {
  std::array<std::uint64_t, 4> rows{};
  std::uint64_t predicates = 0;
};

/// Identity of a warp, for special registers and address generation.
struct WarpIdentity {
  std::array<std::uint32_t, 3> block_size{}, grid_size{}, block_index{};
  std::uint32_t warp_in_block = 0;
  std::uint32_t sm = 0, warp_slot = 0, sm_count = 0, warp_slots = 0;
  std::uint64_t grid_id = 0;
  std::uint32_t dynamic_shared_bytes = 0, static_shared_bytes = 0;
  std::array<std::uint32_t, 3> cluster_size{1, 1, 1};  ///< blocks; one: no cluster
  bool is_explicit_cluster = false;                    ///< the launch or the kernel names a size
  std::uint64_t clock_cycles = 0;  ///< the SM's cycle; the interpreter counts steps
  std::uint64_t global_time_ns = 0;
};

/// State that `execute` works on.
struct WarpContext {
  std::array<std::uint32_t*, 4>
      bases{};  ///< bases of the rows, by Operand::Base; immediates and constants are only read
  const OperandList* lists = nullptr;   ///< operand lists of the program, see flag_listed
  std::uint32_t* predicates = nullptr;  ///< predicates: one 32-lane mask each
  std::uint32_t active = 0;             ///< lanes that execute (path mask, guard applied)
  std::uint32_t path = 0;               ///< lanes of the current path, before the guard
  const WarpIdentity* identity = nullptr;

  std::uint32_t* row(Operand operand) const {
    return bases[operand.base()] + operand.row() * warp_size;
  }
};

/// State that `execute` of a product of a warp group works on.
struct WarpgroupContext : WarpContext {
  const std::byte* shared = nullptr;  ///< shared memory of the block
  std::uint32_t warp_of_group = 0;
};

}  // namespace lockstep::isa
