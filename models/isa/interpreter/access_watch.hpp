/// Watch of the accesses of an interpreted block: for the search for races and missing fences, and
/// for the trace of floats whose last digits depend on the order of threads.
#pragma once

#include <cstdint>

#include "models/isa/instruction.hpp"
#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class AccessWatch {
 public:
  explicit AccessWatch(BlockRunner& block) : block_(block) {}

  /// Checks an access of lanes of the warp to memory.
  void access(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);
  /// Watches for races only: lanes access memory by the instruction at `pc`.
  void races(const InterpretedWarp& warp, std::uint32_t pc, const Instruction& instruction,
             std::uint32_t active);
  /// Lets `lanes` of the warp execute an instruction together, each with the lanes that its mask
  /// names.
  void meet(const InterpretedWarp& warp, const std::uint32_t* masks, std::uint32_t lanes);

 private:
  void matrices(const InterpretedWarp& warp, const Instruction& instruction);
  void floats(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);
  void stores(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);
  void addition(const InterpretedWarp& warp, const Instruction& instruction, unsigned lane,
                std::uint64_t address);

  BlockRunner& block_;
};

}  // namespace lockstep::isa
