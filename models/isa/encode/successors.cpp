#include "models/isa/encode/successors.hpp"

#include <algorithm>
#include <map>

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
  // Instructions behind calls, by the entry of the called function; no_reconvergence: of any
  // function.
  std::map<std::uint32_t, std::vector<std::uint32_t>> behind_calls;
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Instruction& i = program.instructions[pc];
    if (i.category == Category::call) behind_calls[i.target].push_back(pc + 1);
    if (i.category == Category::call_indirect) behind_calls[no_reconvergence].push_back(pc + 1);
  }
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
        for (const std::uint32_t entry : {function_of(pc), no_reconvergence})
          if (const auto found = behind_calls.find(entry); found != behind_calls.end())
            result[pc].insert(result[pc].end(), found->second.begin(), found->second.end());
        std::sort(result[pc].begin(), result[pc].end());
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
