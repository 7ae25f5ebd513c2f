/// st.async and red.async of an interpreted block.  They complete at once, a legal outcome, because
/// no thread may read the data before the mbarrier's phase is over.
#pragma once

#include <cstdint>

#include "models/isa/instruction.hpp"
#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class AsyncStores {
 public:
  explicit AsyncStores(BlockRunner& block) : block_(block) {}

  void store(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);

 private:
  void store_lane(const InterpretedWarp& warp, const Instruction& instruction, unsigned lane);

  BlockRunner& block_;
};

}  // namespace lockstep::isa
