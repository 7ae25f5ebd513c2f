#include "models/isa/encode/successors.hpp"

#include <algorithm>

namespace lockstep::isa {

std::vector<std::vector<std::uint32_t>> successors(const Program& program) {
  const auto count = static_cast<std::uint32_t>(program.instructions.size());
  std::vector<std::vector<std::uint32_t>> result(count);
  std::vector<std::uint32_t> entries;
  for (const std::uint32_t entry : program.function_entries)
    if (entry != no_reconvergence) entries.push_back(entry);
  std::sort(entries.begin(), entries.end());
  const auto function_of = [&](std::uint32_t pc) {
    return *(std::upper_bound(entries.begin(), entries.end(), pc) - 1);
  };
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Instruction& i = program.instructions[pc];
    const bool guarded = i.guard != no_predicate;
    bool goes_on = true;
    switch (i.category) {
      case Category::branch:
        result[pc].push_back(i.target);
        goes_on = guarded;
        break;
      case Category::branch_indexed:
        result[pc] = program.branch_tables[i.target];
        goes_on = guarded;
        break;
      case Category::ret:
        for (std::uint32_t c = 0; c < count; ++c) {
          const Instruction& caller = program.instructions[c];
          const bool returns_there =
              (caller.category == Category::call && caller.target == function_of(pc)) ||
              caller.category == Category::call_indirect;
          if (returns_there) result[pc].push_back(c + 1);
        }
        goes_on = guarded;
        break;
      case Category::exit:
      case Category::trap:
        goes_on = guarded;
        break;
      case Category::call:
        result[pc].push_back(i.target);
        break;
      case Category::call_indirect:
        result[pc] = entries;
        break;
      default:
        break;
    }
    if (goes_on && pc + 1 < count) result[pc].push_back(pc + 1);
  }
  return result;
}

}  // namespace lockstep::isa
