/// Control flow of a function for the passes: edges, order, dominators and loops.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Returns the successors of a block from its last operations, the branch target first; control
/// falls into the block with the next index.
std::vector<std::uint32_t> successors_of(const ir::Function& function, std::uint32_t block);

struct Flow {
  std::vector<std::vector<std::uint32_t>> successors, predecessors;
  std::vector<std::uint32_t> order;     ///< reachable blocks in reverse post-order
  std::vector<std::uint32_t> position;  ///< index of each block in `order`; `unreachable` otherwise
  /// Immediate dominator of each block; the entry's is the entry.
  std::vector<std::uint32_t> dominator;
  /// Place of each block in the dominator tree, walked from the root, and the number of blocks in
  /// its subtree.
  std::vector<std::uint32_t> tree_place, tree_size;
  std::vector<std::uint32_t> loop_depth;
  static constexpr std::uint32_t no_loop = 0xffffffff;
  struct Loop {
    std::uint32_t header;
    std::uint32_t parent;                   ///< innermost loop around this one, or no_loop
    std::uint32_t size;                     ///< number of blocks, those of inner loops included
    std::vector<std::uint32_t> own_blocks;  ///< ascending blocks that are in no inner loop
    std::vector<std::uint32_t> inner;       ///< loops directly inside
  };
  std::vector<Loop> loops;  ///< natural loops, innermost (smallest) first, one per header
  std::vector<std::uint32_t> innermost;  ///< innermost loop around each block, or no_loop

  static constexpr std::uint32_t unreachable = 0xffffffff;
  explicit Flow(const ir::Function& function);
  bool reachable(std::uint32_t block) const { return position[block] != unreachable; }
  /// `loop`: one of `loops`.
  bool contains(const Loop& loop, std::uint32_t block) const;
  /// Returns the blocks in no particular order.
  std::vector<std::uint32_t> blocks_of(const Loop& loop) const;
  /// Returns whether `above` dominates `below`; both are reachable.
  bool dominates(std::uint32_t above, std::uint32_t below) const {
    return tree_place[below] - tree_place[above] < tree_size[above];
  }
};

}  // namespace lockstep::isa::lowering
