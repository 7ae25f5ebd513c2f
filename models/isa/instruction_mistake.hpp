#pragma once

#include <string>

namespace lockstep::isa {

/// Mistake of a thread in an instruction, reported in the same way by the interpreter and the SM:
/// with kernel, thread and line.
struct InstructionMistake {
  std::string what;  ///< mistake in words; "" if there is none
  const char* advice = "";

  explicit operator bool() const { return !what.empty(); }
};

}  // namespace lockstep::isa
