/// Saved blocks that go on in another SM, while a more urgent grid keeps theirs.
///
/// The SM that gives one tells where its context stands, and where the local memory of its warps:
/// both stay where they are.  It gives none whose bytes are still on their way, which the other SM
/// could overtake, and drops what its own cache has of them; the other one returns the homes when
/// the block has ended and nothing is on its way to them.
/// Source: preemption.md, section 2 with its errata (local memory stays at its home).
///
/// Simplified: as many homes of an SM as it has warp slots may be with others; further blocks with
/// local memory return to their own.
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
  /// `in_memory`: the SM's.
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

  /// A block of the grid can be given, but not yet: bytes of its local memory are on their way.
  bool gives_soon(std::uint8_t grid) const;
  /// A block of the grid in memory, to return to another SM, and what goes with it; given == 0:
  /// there is none that can.
  std::pair<BlockGiven, std::vector<std::byte>> give(std::uint8_t grid);
  /// The other side.
  void adopt(const BlockGiven& given, std::span<const std::byte> payload, SmCycle now);

  /// Blocks that have ended elsewhere had these homes, whosever they are.
  void free_homes(std::span<const std::byte> payload, SmCycle now) {
    free_homes(homes_in(payload), now);
  }
  bool owes_homes() const { return blocks_.homes().any_due(); }
  /// Borrowed homes go back when nothing is on its way to them, from the load-store unit or L1.
  void return_homes(SmCycle now);

 private:
  static std::vector<LocalHome> homes_in(std::span<const std::byte> payload);
  bool has_local_memory(const BlockInMemory& block) const {
    return blocks_.grid(block.grid).program->local_bytes > 0;
  }
  /// It stands in memory, and may go.
  bool can_go(const BlockInMemory& block) const;
  bool is_written_back(const BlockInMemory& block) const {
    return !has_local_memory(block) || !l1_.writes_back(block.homes);
  }
  std::vector<BlockInMemory>::iterator next_of(std::uint8_t grid);
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
