/// Addresses that only memory instructions use are computed when those issue.
///
/// What computes such an address issues, occupies its unit and commits like any instruction, but
/// has no effect; the memory instructions compute the address first, into a row that all warps of
/// the SM share.  A warp's own rows have mostly left the host's caches until they are used again,
/// and a 64-bit address takes four cache lines to write and to read.
/// Source: hot-path.md ("what the inner loops can cost").
///
/// Deferred is only what stands in the same straight stretch of code as its uses, has no guard, and
/// whose sources keep their values until the last use.  What saves a warp's registers between an
/// instruction and the use of its address must save those sources, though Program::live_rows has
/// the address in their place.
#pragma once

#include <vector>

#include "models/isa/program.hpp"

namespace lockstep {

struct DeferredAddresses {
  /// The program's own, then the computations of addresses, which no control flow reaches.  The
  /// `target` of a memory instruction is the place of the one that it uses.
  std::vector<isa::Instruction> instructions;
  std::vector<bool> computes_first;  ///< by pc: a memory instruction that uses one
  std::vector<bool> deferred;        ///< by pc: has no effect
};

DeferredAddresses defer_addresses(const isa::Program& program);

}  // namespace lockstep
