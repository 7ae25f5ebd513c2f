#pragma once

#include <cstdint>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/blocks/resident_blocks.hpp"

namespace lockstep {

/// Checks of bulk copies before they begin.
class CopyChecks {
 public:
  using Step = isa::ir::BulkCopyStep;

  CopyChecks(ResidentBlocks& blocks, Mistakes& mistakes) : blocks_(blocks), mistakes_(mistakes) {}

  /// Throws a Mistake unless the copy keeps the rules of its step and a buffer has its bytes.
  void require_right(const Warp& warp, Step step, const isa::BulkCopy& copy, unsigned lane) const;
  /// Throws a Mistake if no buffer has the bytes.
  void require_held(const Warp& warp, std::uint32_t pc, unsigned lane, Step step,
                    std::uint64_t address, std::uint64_t bytes) const;

 private:
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
};

}  // namespace lockstep
