/// Meaning of bar and barrier, whoever keeps the count: the SM, with its cycles, or the
/// interpreter.
///
/// A barrier without a count waits for all threads of the block that have not exited.  A count is
/// of warps, in threads: a warp whose remaining threads have all come counts as 32, and as often as
/// it comes: one that arrives and then waits at the same barrier counts twice.  Source: PTX
/// ISA 8.x, "Parallel Synchronization and Communication Instructions: bar, barrier".
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "models/isa/instruction.hpp"
#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

inline constexpr std::uint32_t named_barriers = 16;

/// Rule by which a reduction combines the predicates of all threads: Instruction::detail, bits 8
/// and 9.
enum class BarrierReduction : std::uint8_t { population, all, any };

/// Returns the number of the barrier that the lane names.
inline std::uint32_t barrier_number(const WarpContext& context, const Instruction& instruction,
                                    unsigned lane) {
  const Operand operand = instruction.source[0];
  return operand.valid() ? context.row(operand)[lane] : instruction.detail & 0xffu;
}
inline std::string barrier_mistake(std::uint32_t number) {
  return "barrier " + std::to_string(number) + " does not exist";
}

/// Returns how many threads the barrier waits for; zero: for all of the block.
inline std::uint32_t barrier_count(const WarpContext& context, const Instruction& instruction,
                                   unsigned lane) {
  return (instruction.flags & flag_count_given) != 0 ? context.row(instruction.source[1])[lane] : 0;
}

/// Returns the number of threads for which `arrived` lanes of a warp count; `alive` lanes have not
/// exited.
inline std::uint32_t arrived_threads(std::uint32_t arrived, std::uint32_t alive,
                                     bool counts_warps) {
  if (counts_warps && arrived != 0 && (alive & ~arrived) == 0) return warp_size;
  return static_cast<std::uint32_t>(std::popcount(arrived));
}

/// Returns the lanes whose predicate has the value that a reduction asks for.
inline std::uint32_t lanes_that_hold(const WarpContext& context, const Instruction& instruction,
                                     std::uint32_t lanes) {
  const std::uint8_t number = instruction.predicate_source[0];
  std::uint32_t holds = number == no_predicate ? ~std::uint32_t{0} : context.predicates[number];
  if ((instruction.flags & flag_source_negated_0) != 0) holds = ~holds;
  return lanes & holds;
}

/// Gives waiting lanes the result of a reduction, from the number of threads whose predicates are
/// true (`population`) and the number of all threads.
inline void give_reduction(const WarpContext& context, const Instruction& instruction,
                           std::uint32_t lanes, std::uint32_t population, bool all) {
  const auto reduction = static_cast<BarrierReduction>(instruction.detail >> 8 & 3);
  if (reduction == BarrierReduction::population) {
    if (!instruction.destination[0].valid()) return;
    std::uint32_t* row = context.row(instruction.destination[0]);
    for_each_lane(lanes, [&](unsigned lane) { row[lane] = population; });
    return;
  }
  if (instruction.predicate_destination[0] == no_predicate) return;
  const bool result = reduction == BarrierReduction::all ? all : population != 0;
  std::uint32_t& to = context.predicates[instruction.predicate_destination[0]];
  to = result ? to | lanes : to & ~lanes;
}

}  // namespace lockstep::isa
