#include "models/sm/parameters/log_entries.hpp"

#include <algorithm>

namespace lockstep {

using isa::Category;

unsigned log_entries_of(const isa::Instruction& instruction) {
  const isa::MemoryFields& memory = instruction.memory;
  if (memory.space != isa::Space::global && memory.space != isa::Space::generic) return 0;
  const unsigned bytes = isa::bytes_of(memory.type) * memory.elements;
  switch (instruction.category) {
    case Category::load:
      return 1;
    case Category::copy:  // the second entry is for the copy's other address
      return 2;
    case Category::store:
      return 1 + (bytes + 7) / 8;
    case Category::atomic: {
      // A compare-and-swap has two operands, which share a lane's 8 bytes if they have 4 each.
      const unsigned operands = memory.atomic == isa::AtomicOperation::cas ? 2 : 1;
      return 1 + (operands * bytes + 7) / 8;
    }
    default:
      return 0;
  }
}

unsigned largest_log_entries(const isa::Program& program) {
  unsigned largest = 0;
  for (const isa::Instruction& instruction : program.instructions)
    largest = std::max(largest, log_entries_of(instruction));
  return largest;
}

}  // namespace lockstep
