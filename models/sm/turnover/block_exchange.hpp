/// Exchange of saved blocks: a block goes on in another SM while a more urgent grid keeps its own
/// SM.
///
/// The SM that gives a block names the places of its context and of its warps' local memory; both
/// stay where they are.  The SM gives no block with bytes on their way to memory, because the other
/// SM could overtake them, and drops the block's local memory from its own cache. The other SM
/// returns the homes when the block has ended and nothing is on its way to them.
/// Source: preemption.md, section 2 with its errata (local memory stays at its home).
///
/// Simplified: an SM lends at most as many homes as it has warp slots; further blocks with local
/// memory return to their own SM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/noc/grid_messages.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/context/context_engine.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/load_store/load_store_unit.hpp"
#include "models/sm/turnover/block_in_memory.hpp"

namespace lockstep {

class BlockExchange {
 public:
  /// `in_memory`: the SM's blocks in memory.
  BlockExchange(const SmConstants& constants, ResidentBlocks& blocks, SmPorts& ports, L1& l1,
                const LoadStoreUnit& load_store, ContextEngine& engine,
                std::vector<BlockInMemory>& in_memory)
      : constants_(constants),
        blocks_(blocks),
        ports_(ports),
        l1_(l1),
        load_store_(load_store),
        engine_(engine),
        in_memory_(in_memory) {}

  /// Returns whether a block of the grid can be given as soon as bytes of its local memory, now on
  /// their way, have arrived.
  bool gives_soon(std::uint8_t grid) const;
  /// Gives a block of the grid that is in memory to another SM, with the bytes that go with it.
  /// given == 0: no block can go.
  std::pair<BlockGiven, std::vector<std::byte>> give(std::uint8_t grid);
  /// Gives a block of a cluster that has just been saved; the dispatcher keeps it until the whole
  /// cluster returns.
  std::pair<BlockGiven, std::vector<std::byte>> give_of_cluster(const BlockReference& reference);
  /// Takes over a block that another SM has given.
  void adopt(const BlockGiven& given, std::span<const std::byte> payload, SmCycle now);

  /// Frees homes of blocks that have ended elsewhere; the homes may be this SM's or another's.
  void free_homes(std::span<const std::byte> payload, SmCycle now) {
    free_homes(homes_in(payload), now);
  }
  bool owes_homes() const { return blocks_.homes().any_due(); }
  /// Sends borrowed homes back when nothing from the load-store unit or L1 is on its way to them.
  void return_homes(SmCycle now);

 private:
  static std::vector<LocalHome> homes_in(std::span<const std::byte> payload);
  bool has_local_memory(const BlockInMemory& block) const {
    return blocks_.grid(block.grid).program->local_bytes > 0;
  }
  /// Returns whether the block stands in memory and may go to another SM.
  bool can_go(const BlockInMemory& block) const;
  bool is_written_back(const BlockInMemory& block) const {
    return !has_local_memory(block) || !l1_.writes_back(block.homes);
  }
  std::vector<BlockInMemory>::iterator next_of(std::uint8_t grid);
  std::pair<BlockGiven, std::vector<std::byte>> give(std::vector<BlockInMemory>::iterator block);
  void free_homes(const std::vector<LocalHome>& homes, SmCycle now);

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  L1& l1_;
  const LoadStoreUnit& load_store_;
  ContextEngine& engine_;
  std::vector<BlockInMemory>& in_memory_;
};

}  // namespace lockstep
