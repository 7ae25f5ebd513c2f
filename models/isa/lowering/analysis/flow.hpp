/// Control flow of a function as the passes see it: edges, order, dominators and loops.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Successors of a block from its last operations (the block index that follows is the one control
/// falls into); taken target first.
std::vector<std::uint32_t> successors_of(const ir::Function& function, std::uint32_t block);

struct Flow {
  std::vector<std::vector<std::uint32_t>> successors, predecessors;
  std::vector<std::uint32_t> order;      ///< reachable blocks in reverse post-order
  std::vector<std::uint32_t> position;   ///< index in `order`; `unreachable` otherwise
  std::vector<std::uint32_t> dominator;  ///< immediate; the entry's is itself
  /// A block's place in the dominator tree, walked from the root, and how many blocks are below and
  /// in it.
  std::vector<std::uint32_t> tree_place, tree_size;
  std::vector<std::uint32_t> loop_depth;
  static constexpr std::uint32_t no_loop = 0xffffffff;
  struct Loop {
    std::uint32_t header;
    std::uint32_t parent;                   ///< the loop next around it, or no_loop
    std::uint32_t size;                     ///< in blocks, those of inner loops included
    std::vector<std::uint32_t> own_blocks;  ///< in none of the inner loops; ascending
    std::vector<std::uint32_t> inner;       ///< loops next in it
  };
  std::vector<Loop> loops;  ///< natural loops, innermost (smallest) first, one per header
  std::vector<std::uint32_t> innermost;  ///< by block: the loop next around it, or no_loop

  static constexpr std::uint32_t unreachable = 0xffffffff;
  explicit Flow(const ir::Function& function);
  bool reachable(std::uint32_t block) const { return position[block] != unreachable; }
  /// `loop`: one of `loops`.
  bool contains(const Loop& loop, std::uint32_t block) const;
  std::vector<std::uint32_t> blocks_of(const Loop& loop) const;  ///< in no order
  /// Returns whether `above` dominates `below`; both are reachable.
  bool dominates(std::uint32_t above, std::uint32_t below) const {
    return tree_place[below] - tree_place[above] < tree_size[above];
  }
};

}  // namespace lockstep::isa::lowering
