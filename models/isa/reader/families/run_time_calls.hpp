#pragma once

#include <vector>

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Calls of functions of the CUDA run time, and the instructions of those that Lockstep supplies.
class RunTimeCalls : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  /// Reads a call of a function of the CUDA run time.  Returns false if the callee is no known
  /// function of it.
  bool call(PtxInstruction& instruction, const Argument& callee,
            const std::vector<Argument>& arguments);
  /// Reads print.begin, print.word, print.end of built-in functions.
  void print(PtxInstruction& instruction);

 private:
  void assertion(PtxInstruction& instruction, const Argument& callee,
                 const std::vector<Argument>& arguments);
  void free_memory(PtxInstruction& instruction, const Argument& callee,
                   const std::vector<Argument>& arguments);
};

}  // namespace lockstep::isa
