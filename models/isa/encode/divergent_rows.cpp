/// Rows that are live at a preemption point, for divergent warps too: for each branch around the
/// point they include the rows that are live behind the branch, where lanes may not have begun, and
/// at the meeting place, where lanes may wait.
/// Source: 002, section III.B; preemption.md, section 3.2.
#include "models/isa/encode/divergent_rows.hpp"

#include <algorithm>

#include "models/isa/encode/successors.hpp"

namespace lockstep::isa {
namespace {

using Mask = std::array<std::uint64_t, 4>;
using Edges = std::vector<std::vector<std::uint32_t>>;

void merge(Mask& into, const Mask& other) {
  for (std::size_t word = 0; word < into.size(); ++word) into[word] |= other[word];
}

bool lets_paths_wait(const Instruction& instruction) {
  switch (instruction.category) {
    case Category::barrier:
    case Category::cluster_barrier:
    case Category::warp_barrier:
    case Category::call:
    case Category::call_indirect:
      return true;
    default:
      return (instruction.flags & flag_needs_all_lanes) != 0;
  }
}

/// Returns where lanes may be that have parted at the branch and have not met.
std::vector<bool> region_of(const Program& program, const Edges& next, std::uint32_t branch) {
  std::vector<bool> region(next.size());
  std::vector<std::uint32_t> work = next[branch];
  while (!work.empty()) {
    const std::uint32_t pc = work.back();
    work.pop_back();
    if (pc == program.instructions[branch].reconvergence || region[pc]) continue;
    region[pc] = true;
    work.insert(work.end(), next[pc].begin(), next[pc].end());
  }
  return region;
}

}  // namespace

std::vector<Mask> divergent_rows(const Program& program) {
  const std::vector<Instruction>& code = program.instructions;
  if (std::any_of(code.begin(), code.end(), lets_paths_wait)) return {};
  std::vector<Mask> rows(code.size());
  const auto is_point = [&](std::size_t pc) {
    return (code[pc].flags & flag_preemption_point) != 0;
  };
  for (std::size_t pc = 0; pc < code.size(); ++pc)
    if (is_point(pc)) rows[pc] = program.live_rows[pc];
  const Edges next = successors(program);
  for (std::uint32_t branch = 0; branch < code.size(); ++branch) {
    if (next[branch].size() < 2) continue;
    Mask around{};
    for (const std::uint32_t arm : next[branch]) merge(around, program.live_rows[arm]);
    if (const std::uint32_t meet = code[branch].reconvergence; meet < code.size())
      merge(around, program.live_rows[meet]);
    const std::vector<bool> region = region_of(program, next, branch);
    for (std::size_t pc = 0; pc < code.size(); ++pc)
      if (region[pc] && is_point(pc)) merge(rows[pc], around);
  }
  return rows;
}

}  // namespace lockstep::isa
