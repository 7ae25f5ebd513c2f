/// Messages of host, dispatcher and SMs about grids and thread blocks.
///
/// The host launches a grid at the dispatcher, which starts it on SMs and hands out its blocks; SMs
/// report finished blocks, and the dispatcher reports finished grids.  All three rooms use these
/// messages, so this file is below them.
/// Source: architecture.md, section 8, rules 5 and 11 (when a block is done; parameters travel with
/// the first block of a grid).
#pragma once

#include <array>
#include <cstdint>

#include "core/time/time.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// A buffer of a tenant, or a .global variable of its module without a declared buffer.
struct BufferBound {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t buffer = 0;  ///< number of the buffer (BufferId)
  std::uint32_t reserved = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(address, bytes, buffer);
  }
};
static_assert(sizeof(BufferBound) == 24);

/// Body of launch_grid and start_grid.  Payload: `parameter_bytes` (rounded up to 8) of kernel
/// parameters, then `globals` 64-bit addresses of the module's .global variables, then `bounds`
/// BufferBounds sorted by address (none: accesses are not held against them).
struct GridLaunch {
  std::uint32_t grid = 0;  ///< number in the run, in launch order at the host
  std::uint16_t tenant = 0;
  std::uint16_t module = 0;  ///< index in the scenario's modules
  std::uint16_t kernel = 0;
  std::uint16_t stream = 0;
  std::uint32_t priority = 0;
  std::array<std::uint32_t, 3> blocks{};
  std::array<std::uint32_t, 3> threads{};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t parameter_bytes = 0;
  std::uint16_t globals = 0;
  std::uint16_t queued = 0;  ///< 1: the grid stood behind the one before in its stream
  /// Registers of a thread for occupancy; 0: as many as the program has.
  std::uint32_t registers = 0;
  /// isa::PointerOrigins through which the kernel overwrites data that it reads.
  std::uint64_t overwritten = 0;
  /// Members of `overwritten` through which other parties see each store.
  std::uint64_t pinned = 0;
  std::uint32_t bounds = 0;
  /// 1 + the grid before in its stream, beside which the grid may begin; 0: it depends on no grid
  /// that has not ended.
  std::uint32_t primary = 0;
  std::array<std::uint8_t, 3> cluster{1, 1, 1};  ///< blocks of a cluster; 1, 1, 1: no clusters
  std::uint8_t explicit_cluster = 0;  ///< 1: the launch or the kernel names a cluster size
  std::uint32_t number_on_gpu = 0;    ///< number among the launches on its GPU, from 0 on

  std::uint32_t cluster_blocks() const {
    return std::uint32_t{cluster[0]} * cluster[1] * cluster[2];
  }
  std::uint64_t block_count() const { return std::uint64_t{blocks[0]} * blocks[1] * blocks[2]; }
  std::uint32_t threads_per_block() const { return threads[0] * threads[1] * threads[2]; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, tenant, module, kernel, stream, priority, blocks, threads, dynamic_shared_bytes,
            parameter_bytes, globals, queued, registers, overwritten, pinned, bounds, primary,
            cluster, explicit_cluster, number_on_gpu);
  }
};
static_assert(sizeof(GridLaunch) == 88);

/// State that a saved block leaves on chip, as bits.
namespace in_place {
inline constexpr std::uint8_t registers = 1, shared = 2;
}

/// Ways to remove a thread block that makes room for a more urgent grid.
enum class Technique : std::uint8_t {
  drain,  ///< the block runs to its end
  save,   ///< the block stops, and its context goes to memory
  /// The block is dropped and runs again from its start; a block that cannot be flushed is saved,
  /// or drains.
  flush,
};

/// stop_grid.  Payload: BlockCommands for some of the grid's blocks.
struct GridStop {
  std::uint32_t grid = 0;
  Technique others = Technique::drain;  ///< technique for blocks without a command
  std::array<std::uint8_t, 3> reserved{};
};
struct BlockCommand {
  std::uint64_t block = 0;
  Technique technique = Technique::drain;
  std::uint8_t keeps = 0;  ///< bits of InPlace
  std::array<std::uint8_t, 6> reserved{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(block, technique, keeps);
  }
};
static_assert(sizeof(GridStop) == 8 && sizeof(BlockCommand) == 16);

/// end_grid, resume_grid, give_block, ask_status, primary_is_over, grid_stopped (`sm`: who says
/// so).
struct GridReference {
  std::uint32_t grid = 0;
  std::uint32_t sm = 0;
};

/// start_block, block_restored, block_settled, block_returned, block_lets_go.  Where places matter
/// (SmPlaces) the first two have a BlockPosition as payload; a start_block without one names a
/// block that waits at the SM for the first free place, which the SM reports by a start_block of
/// its own.
struct BlockReference {
  std::uint32_t grid = 0;
  std::uint32_t sm = 0;
  std::uint64_t block = 0;  ///< linear index in the grid, x fastest

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, sm, block);
  }
};

/// Where a block's part of an SM begins.
struct BlockPosition {
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(registers, shared_bytes);
  }
};

struct InstructionCount {
  std::uint64_t warp = 0, thread = 0;

  InstructionCount& operator+=(const InstructionCount& other) {
    warp += other.warp;
    thread += other.thread;
    return *this;
  }
  InstructionCount& operator-=(const InstructionCount& other) {
    warp -= other.warp;
    thread -= other.thread;
    return *this;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(warp, thread);
  }
};

/// Work of a block so far, while a preemption asks for that (SmSetup::follows_blocks).
struct BlockWork {
  InstructionCount executed;
  std::uint64_t cycles = 0;  ///< cycles of the SM with the block on chip

  template <class Archive>
  void serialize(Archive& archive) {
    archive(executed, cycles);
  }
};

/// block_done, block_flushed.
struct BlockDone {
  BlockReference block;
  /// Instructions of the grid on this SM since its last block was done there.
  InstructionCount executed;
  BlockWork work;                   ///< work of the block; lost if it was flushed
  std::uint32_t leaves_stores = 0;  ///< 1: from now on the grid waits for stores of this SM
  std::uint32_t had_let_go = 0;     ///< 1: block_lets_go was sent for the block
};
static_assert(sizeof(BlockDone) == 64);

/// Parts of a context, beside control state.
struct ContextParts {
  std::uint32_t register_bytes = 0;  ///< bytes of registers, first in the context
  std::uint32_t shared_bytes = 0;    ///< bytes of shared memory, which follow
  std::uint32_t compressed = 0;      ///< number of registers that pass the compressor
  /// Registers and shared memory as far as the block is said to have them at most: a launch may
  /// state fewer registers than the program uses.
  std::uint32_t stated_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(register_bytes, shared_bytes, compressed, stated_bytes);
  }
};

/// block_saved.
struct BlockSaved {
  BlockReference block;
  std::uint64_t bytes = 0;  ///< bytes of the context
  ContextParts parts;
  Time stopped;            ///< time from which nothing of the block was in flight
  std::uint8_t keeps = 0;  ///< bits of InPlace
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(BlockSaved) == 56);

/// block_given.  Payload: `homes` LocalHomes, the places of its warps' local memory; then its
/// context, if that does not go through memory.
struct BlockGiven {
  BlockReference block;     ///< the block; `sm`: the SM that gives it
  std::uint32_t place = 0;  ///< number of the context's place among those of all SMs
  std::uint8_t given = 0;   ///< 1: a block is given; 0: the SM can give none of the grid
  std::uint8_t idempotent = 0;
  std::uint8_t has_position = 0;  ///< 1: the block returns to `at`
  std::uint8_t reserved = 0;
  std::uint32_t homes = 0;
  std::uint32_t ended_by = 0;  ///< value of BlockProgress::ended_by
  std::uint64_t bytes = 0;     ///< bytes of the context
  ContextParts parts;
  BlockWork work;  ///< work of the block so far
  /// Instructions of the grid on that SM since its last block was done there.
  InstructionCount executed;
  Time started;      ///< start of the block, for /thread_blocks
  BlockPosition at;  ///< position kept by the dispatcher for a block of a cluster

  template <class Archive>
  void serialize(Archive& archive) {
    archive(block, place, given, idempotent, has_position, homes, ended_by, bytes, parts, work,
            executed, started, at);
  }
};
static_assert(sizeof(BlockGiven) == 112);

/// context_free; homes_free: `place` means nothing.  Payload of that: LocalHomes.
struct ContextPlace {
  std::uint32_t sm = 0;  ///< SM that owns the place
  std::uint32_t place = 0;
};

/// status: GridReference; payload: one BlockStatus for each of the grid's blocks in the SM.
struct BlockStatus {
  std::uint64_t block = 0;
  BlockWork work;
  std::uint8_t idempotent = 0;  ///< 1: the block may be flushed
  std::uint8_t faulted = 0;     ///< 1: the block waits for a page
  std::array<std::uint8_t, 2> reserved{};
  /// PTX line of the instruction that ended the block's idempotence; 0: unknown.
  std::uint32_t ended_by = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(block, work, idempotent, faulted, ended_by);
  }
};
static_assert(sizeof(BlockStatus) == 40);

/// Message grid_done.
struct GridDone {
  std::uint32_t grid = 0;
  std::uint32_t reserved = 0;
  InstructionCount executed;
};
static_assert(sizeof(GridDone) == 24);

/// grid_begins, grid_ends.
struct GridMark {
  std::uint32_t grid = 0;
  std::uint16_t tenant = 0;
  std::uint16_t reserved = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, tenant);
  }
};
static_assert(sizeof(GridMark) == 8);

/// instructions_reached.
struct TenantProgress {
  std::uint16_t tenant = 0;
  std::array<std::uint16_t, 3> reserved{};
  InstructionCount executed;  ///< instructions in blocks that are done
};
static_assert(sizeof(TenantProgress) == 24);

}  // namespace lockstep
