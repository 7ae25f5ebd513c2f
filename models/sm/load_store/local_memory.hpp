/// Local memory: each thread's own arrays, spills and call frames, interleaved by lane.
///
/// A lane's data of more than 32 bits is accessed word by word.  Lines live in L1 with a mask of
/// dirty bytes and are written back when replaced; L1 drops the lines of a finished block.
/// Source: architecture.md, section 8, rules 3 and 5; CUDA programming guide, "Local Memory".
#pragma once

#include "models/sm/access/access.hpp"
#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/blocks/resident_blocks.hpp"

namespace lockstep {

/// Throws a Mistake if a lane's bytes lie outside the local memory of its thread.
void check_local(const ResidentBlocks& blocks, const Mistakes& mistakes, const Warp& warp,
                 const LaneAddresses& offset, std::uint32_t active, unsigned bytes);
/// Enters lanes at these checked offsets into an access that is otherwise ready. `home`: start of
/// the warp's local memory.
void start_local(Access& access, PhysicalAddress home, const LaneAddresses& offset);
/// The lines of the access's word `part`.
void coalesce_local(Access& access, PhysicalAddress home);

}  // namespace lockstep
