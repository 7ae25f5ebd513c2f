/// Loads and stores of the interpreter that move all lanes at once: those whose lanes all lie
/// within one allocation, or in the block's shared memory.
///
/// Lanes at consecutive addresses, and lanes at one address, are moved with vectors; others one
/// after the other.  A lane's access of up to 16 bytes to global memory is one access of this
/// computer, as in whole_access.hpp: a block on another core sees all or nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/isa/instruction.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {

/// Bytes at an address of the GPU, and where this computer has them.
struct PlacedBytes {
  std::uint64_t base = 0, bytes = 0;
  std::byte* data = nullptr;
};

/// Moves what the active lanes of a load or store access.  Returns false, with nothing moved, if a
/// lane's access is misaligned or not within `memory`.
using MoveLanes = bool (*)(const Instruction&, const WarpContext&, const PlacedBytes& memory);

/// Functions for a load or store; nullptr: its space, type or width has none.
struct Moves {
  MoveLanes move = nullptr;
  /// Returns whether the memory has the values of a store's lanes already.  A lane's access that is
  /// misaligned or not within the memory gives false, too.
  MoveLanes has = nullptr;
};

/// Returns the functions for a load or store.  Generic addresses count as global ones.
Moves select_moves(const Instruction& instruction, CpuLevel level);
Moves select_moves(const Instruction& instruction);

}  // namespace lockstep::isa
