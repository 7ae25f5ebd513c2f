#pragma once

#include <string>
#include <vector>

#include "models/isa/load.hpp"

namespace lockstep::isa {

/// Returns the instructions of a category in what the interpreter runs of a module's first kernel.
inline std::vector<Instruction> read_instructions(const std::string& text, Category category) {
  const Module module = load_module_text(text, "good.ptx");
  std::vector<Instruction> found;
  for (const Instruction& i : module.kernels[0].reference.instructions)
    if (i.category == category) found.push_back(i);
  return found;
}

}  // namespace lockstep::isa
