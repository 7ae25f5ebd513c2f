/// Bulk copies of an interpreted block.  They complete at once, a legal outcome, because no thread
/// may read the data before the wait.
#pragma once

#include <cstdint>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/bulk/tensor_tile.hpp"
#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class BulkCopies {
 public:
  explicit BulkCopies(BlockRunner& block) : block_(block) {}

  void copy(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);

 private:
  void copy_bytes(const InterpretedWarp& warp, const Instruction& instruction, const BulkCopy& copy,
                  unsigned lane);
  /// Shared memory to which a copy brings bytes, and the place of the mbarrier that counts them.
  struct Target {
    BlockRunner* block = nullptr;
    std::uint32_t shared = 0, barrier = 0;
  };
  /// Calls function(target) for each block that gets the copy to `shared` and `barrier`.
  template <class Function>
  void for_each_target(const InterpretedWarp& warp, const Instruction& instruction, unsigned lane,
                       std::uint32_t shared, std::uint32_t barrier, Function&& function);
  /// Returns the mask of ranks of a copy to several blocks.
  std::uint32_t ranks_of(const InterpretedWarp& warp, const Instruction& instruction,
                         unsigned lane) const;
  void load(const InterpretedWarp& warp, const Instruction& instruction, const BulkCopy& copy,
            unsigned lane);
  void load_tile(const InterpretedWarp& warp, const Instruction& instruction, const TileCopy& copy,
                 const TensorMap& map, unsigned lane);
  /// Returns the global bytes of a tile; nullptr: it has none.  `reads`: they are loaded.
  std::byte* global_of(const InterpretedWarp& warp, unsigned lane, const TensorTile::Extent& extent,
                       bool reads);
  void copy_tile(const InterpretedWarp& warp, const Instruction& instruction, const TileCopy& copy,
                 unsigned lane);
  /// `global`: the first byte of the tile's extent; `shared`: address in the block's shared memory.
  void move(const TensorTile& tile, const Instruction& instruction, std::byte* global,
            std::byte* shared);
  /// Returns the bytes at the address of a map: of parameters, of constants, or in global memory.
  TensorMap::Bytes map_at(const InterpretedWarp& warp, std::uint64_t address, unsigned lane);
  /// Returns the place in global memory.  Throws UserError if it does not exist.
  std::byte* global_at(const InterpretedWarp& warp, unsigned lane, std::uint64_t address,
                       std::uint64_t bytes);
  void touch_fresh(const InterpretedWarp& warp, std::uint64_t address, bool reads);

  BlockRunner& block_;
};

}  // namespace lockstep::isa
