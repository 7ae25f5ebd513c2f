/// Bulk copies of a block that is interpreted: they are through where they stand, a legal outcome,
/// as nobody may look before the wait.
#pragma once

#include <cstdint>

#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class BulkCopies {
 public:
  explicit BulkCopies(BlockRunner& block) : block_(block) {}

  void copy(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);

 private:
  void touch_fresh(const InterpretedWarp& warp, std::uint64_t address, bool reads);

  BlockRunner& block_;
};

}  // namespace lockstep::isa
