#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/isa/opcode.hpp"
#include "models/isa/types.hpp"

namespace lockstep::isa::ir {

/// A virtual register of a function; its index in Function::registers names it.
struct Register {
  std::string name;
  Type type = Type::b32;  ///< type as declared: b16, b32, b64, f32, ...; pred for predicates
};
inline constexpr std::uint32_t no_register = 0xffffffff;

enum class SpecialRegister : std::uint16_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  warp_sz,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,  ///< predicate in PTX: 0 or 1
};

/// Operation::mode of a bar: sources are the barrier's number, then the thread count if given, then
/// the predicate of a reduction.
enum class BarrierMode : std::uint16_t { sync, arrive, reduce_popc, reduce_and, reduce_or };

/// Operation::mode of a bar_cluster; its ordering is release or relaxed of an arrival, acquire of a
/// wait.
enum class ClusterBarrierStep : std::uint16_t {
  arrive,  ///< arrives at the barrier; each thread does so once, then has to wait
  wait,    ///< waits until all threads of the cluster that have not ended have arrived
};

/// Operation::mode of a print: the steps of one printf.
enum class PrintStep : std::uint16_t {
  begin,  ///< begins a printf: d = bytes of arguments that the format at a takes
  word,   ///< passes the next four bytes of arguments
  end,    ///< prints the text; d = return value of printf
};

/// Operation::mode of a cp_async_group.
enum class CopyGroupStep : std::uint16_t {
  commit,    ///< closes the group of the copies since the last commit
  wait,      ///< waits until at most the `immediate` newest groups are under way
  wait_all,  ///< commits, then waits for all groups
};

/// Part of Operation::immediate of a bulk_copy (bulk/bulk_copy.hpp); its mode is an L2Hint.
enum class BulkCopyStep : std::uint8_t {
  load,      ///< copies from global to shared memory; completes transactions of an mbarrier
  store,     ///< copies from shared to global memory; belongs to a group
  prefetch,  ///< fetches from global memory to L2
  reduce,  ///< applies atomics to global memory with operands in shared memory; belongs to a group
  /// Copies from shared memory of the block to that of a block of its cluster; completes
  /// transactions of an mbarrier there.
  send,
};

/// Operation::mode of a bulk_group.
enum class BulkGroupStep : std::uint16_t {
  commit,     ///< closes the group of the stores since the last commit
  wait,       ///< waits until at most the `immediate` newest groups are under way
  wait_read,  ///< waits until at most the `immediate` newest groups have shared memory to read
};

/// Operation::mode of a wgmma_step.
enum class WarpgroupStep : std::uint16_t {
  fence,   ///< orders registers before products
  commit,  ///< closes the group of the products since the last commit
  wait,    ///< waits until at most the `immediate` newest groups are under way
};

/// Operation::mode of a griddepcontrol.
enum class GridDependencyStep : std::uint16_t {
  wait,               ///< waits until the grid that runs ahead of this one has ended
  launch_dependents,  ///< lets the next grid begin, as far as that depends on this block
};

/// Operation::mode of a trap.
enum class TrapReason : std::uint16_t {
  none,   ///< the program's own trap, or an assertion: these have sources
  freed,  ///< the freed address belongs to no block of the heap
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,
    predicate,
    immediate,  ///< bits, as the instruction's type reads them
    special,
    parameter,  ///< value of a kernel parameter: `type` at byte `value` of the parameter buffer
    global_symbol,
    constant_symbol,
    shared_symbol,
    local_symbol,  ///< symbol number `index`, addend in `value`
    function,
    label,
    discard,  ///< destination "_"
  };
  Kind kind = Kind::none;
  bool negated = false;    ///< predicates: "!p"
  Type type = Type::none;  ///< type of the operand, if it differs from the operation's
  std::uint32_t index =
      no_register;  ///< register, symbol, function, label (block) or special register
  std::int64_t value = 0;
};

inline Operand register_operand(std::uint32_t index) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.index = index;
  return operand;
}
inline Operand predicate_operand(std::uint32_t index, bool negated = false) {
  Operand operand;
  operand.kind = Operand::Kind::predicate;
  operand.index = index;
  operand.negated = negated;
  return operand;
}
inline Operand immediate_operand(std::int64_t value) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.value = value;
  return operand;
}

enum class MulPart : std::uint8_t { none, lo, hi, wide };

/// Operation, written in PTX or made by lowering.
struct Operation {
  Opcode opcode = Opcode::nop;
  Type type = Type::none;         ///< the instruction's last type; cvt, set, dp4a: destination type
  Type source_type = Type::none;  ///< cvt, set, slct, dp4a, ...: the second type
  Operand guard;                  ///< kind `none`: unguarded
  std::vector<Operand> destinations;  ///< vectors and "p|q" pairs have several
  std::vector<Operand> sources;       ///< memory: [0] is the base of the address, then data
  std::int64_t offset = 0;            ///< bytes added to a memory address

  // modifiers
  Space space = Space::none;
  Rounding rounding = Rounding::none;
  Comparison comparison = Comparison::none;
  Combination combination = Combination::none;
  MulPart part = MulPart::none;
  AtomicOperation atomic = AtomicOperation::none;
  CacheOperator cache = CacheOperator::none;
  Ordering ordering = Ordering::weak;
  Scope scope = Scope::none;
  std::uint8_t elements = 1;      ///< .v2 .v4
  bool flush = false;             ///< .ftz
  bool saturate = false;          ///< .sat
  bool relu = false;              ///< .relu
  bool nan = false;               ///< .NaN
  bool approximate = false;       ///< .approx
  bool full = false;              ///< div.full
  bool carry_out = false;         ///< .cc
  bool uniform = false;           ///< .uni
  bool sync = false;              ///< .sync
  bool wrap = false;              ///< shf.wrap
  bool shift_amount = false;      ///< bfind.shiftamt
  bool preemption_point = false;  ///< bar and nop: see lowering/preemption_points.cpp
  /// Mode of shfl, vote, match, bar, prmt, isspacep or testp, see the reader.
  std::uint16_t mode = 0;
  std::uint32_t immediate = 0;  ///< lop3 table, barrier number
  std::uint32_t line = 0, column = 0;
};

struct Block {
  std::string label;                  ///< label; "" if only the block before leads here
  std::vector<Operation> operations;  ///< operations; a branch stands only at the end
  /// Indices of successors; filled by the control flow pass.
  std::vector<std::uint32_t> successors;
};

struct Variable {
  std::string name;
  std::uint64_t bytes = 0, alignment = 1, offset = 0;  ///< `offset`: place that the reader chose
};

struct Function {
  std::string name;
  bool is_entry = false;
  std::vector<Register> registers;
  std::vector<Block> blocks;  ///< [0] is the entry
  /// Shared variables of the module, indexed by shared_symbol operands; encode places those that a
  /// kernel uses.
  std::shared_ptr<const std::vector<Variable>> shared =
      std::make_shared<const std::vector<Variable>>();
  std::vector<Variable> local;
  std::vector<std::vector<std::uint32_t>> branch_tables;  ///< block indices of each brx.idx
  std::vector<Operand> inputs, results;  ///< formal parameters of a device function, as registers
  std::uint64_t local_bytes = 0;
  bool shared_placed = false;      ///< after lowering: no shared symbols are left
  std::uint64_t shared_bytes = 0;  ///< bytes of the shared symbols that lowering has placed
};

}  // namespace lockstep::isa::ir
