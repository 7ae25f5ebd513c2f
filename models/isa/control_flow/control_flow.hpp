/// Successors, post-dominators and the points where diverged lanes meet again.
///
/// A branch's lanes meet at its immediate post-dominator.  Edges into blocks that only end the
/// thread (or return) do not count while the block has another successor: those lanes leave every
/// mask, so an early exit does not keep the others apart.
/// Source: Fung et al., "Dynamic Warp Formation", MICRO 2007, section 3.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

inline constexpr std::uint32_t no_block = 0xffffffff;

/// Fills Block::successors: first the branch targets, then the next block if control falls into it.
/// Appends a `ret` where the last block would run off the end.
void find_successors(ir::Function& function);

/// Returns the immediate post-dominator of each block, or no_block.  Needs successors.
std::vector<std::uint32_t> immediate_post_dominators(const ir::Function& function);

}  // namespace lockstep::isa
