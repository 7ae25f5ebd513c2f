/// Instructions of a program that the interpreter executes one after the other, without a look at
/// anything but the instruction: arithmetic, and loads and stores whose lanes move at once.
///
/// Branches, barriers and everything that has to do with other lanes or warps ends a stretch, and
/// so do reads of clocks, which count the warp's instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/program.hpp"
#include "models/isa/semantics/word_moves.hpp"

namespace lockstep::isa {

class StraightCode {
 public:
  /// The functions that execute an instruction, of which it has one kind.
  struct Step {
    Execute execute = nullptr;
    Moves moves{};              ///< functions of a load or store
    bool loads_shared = false;  ///< a load of the block's own shared memory
  };

  /// `with_moves`: stretches have loads and stores, too.
  StraightCode(const Program& program, bool with_moves);

  /// Returns the step of each instruction.
  const std::vector<Step>& steps() const { return steps_; }
  /// Returns how many instructions from `pc` on are in one stretch.
  std::uint32_t length(std::uint32_t pc) const { return lengths_[pc]; }
  /// Returns the issue slots of instructions [begin, end).
  std::uint64_t issue_slots(std::uint32_t begin, std::uint32_t end) const {
    return slots_before_[end] - slots_before_[begin];
  }

 private:
  std::vector<Step> steps_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> slots_before_;  ///< issue slots of all instructions before each pc
};

}  // namespace lockstep::isa
