/// Targets of indirect branches and calls, which each lane chooses for itself, and mistakes in a
/// choice.  The SM and the interpreter both use this file.
/// Source: PTX ISA 8.x, "brx.idx", "call".
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/divergence.hpp"
#include "models/isa/instruction.hpp"

namespace lockstep::isa {

/// Returns the lanes grouped by their target, in the order of their first lanes.
template <class PcOf>
std::vector<WarpPaths::Arm> arms_of(std::uint32_t lanes, PcOf&& pc_of) {
  std::vector<WarpPaths::Arm> arms;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint32_t pc = pc_of(lane);
    auto arm = std::find_if(arms.begin(), arms.end(), [&](const auto& a) { return a.pc == pc; });
    if (arm == arms.end()) arm = arms.insert(arms.end(), {pc, 0});
    arm->lanes |= 1u << lane;
  }
  return arms;
}

/// Returns the arms of brx.idx. `index_of(lane)` is the lane's choice; `fail(lane, what, advice)`
/// does not return.
std::vector<WarpPaths::Arm> branch_arms(const std::vector<std::uint32_t>& table,
                                        std::uint32_t lanes, auto&& index_of, auto&& fail) {
  return arms_of(lanes, [&](unsigned lane) {
    const std::uint64_t index = index_of(lane);
    if (index >= table.size())
      fail(lane, "brx.idx index " + std::to_string(index) + " has no label",
           "guard the branch with a comparison");
    return table[index];
  });
}

/// Returns the arms of a call through a pointer; `function_of(lane)` is the pointer.
std::vector<WarpPaths::Arm> call_arms(const std::vector<std::uint32_t>& entries,
                                      std::uint32_t lanes, auto&& function_of, auto&& fail) {
  return arms_of(lanes, [&](unsigned lane) {
    const std::uint64_t function = function_of(lane);
    if (function >= entries.size() || entries[function] == no_reconvergence)
      fail(lane, "call of " + std::to_string(function) + ", which is no function",
           "take pointers to functions with mov.u64");
    return entries[function];
  });
}

}  // namespace lockstep::isa
