#include "models/sm/turnover/standing_blocks.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/blocks/warp_set.hpp"

namespace lockstep {
namespace {

using isa::Category;
using isa::Instruction;

constexpr std::size_t most_blocks = 4, most_places = 4;
/// Distance in instructions within which reports look for the address that a warp polls.
constexpr std::uint32_t reach = 64;

std::string cause_of(const WarpStates& states, std::uint64_t bit) {
  for (std::size_t cause = 0; cause < stall_causes; ++cause)
    if ((states.waiting(static_cast<StallCause>(cause)) & bit) != 0)
      return std::string("waits: ") + stall_cause_names[cause];
  return "runs";
}

bool polls(const Instruction& instruction) {
  if (instruction.category == Category::phase_wait) return true;
  return (instruction.category == Category::load || instruction.category == Category::atomic) &&
         instruction.memory.space != isa::Space::constant &&
         instruction.memory.space != isa::Space::parameter &&
         instruction.memory.space != isa::Space::local;
}

/// Returns the loop around `pc`: its begin is the target of the next branch that leads back over
/// `pc`.
std::optional<std::uint32_t> begin_of_loop(const isa::Program& program, std::uint32_t pc) {
  const auto end = static_cast<std::uint32_t>(program.instructions.size());
  for (std::uint32_t at = pc; at < end && at < pc + reach; ++at) {
    const Instruction& instruction = program.instructions[at];
    if (instruction.category == Category::branch && instruction.target <= pc)
      return instruction.target;
  }
  return std::nullopt;
}

/// Returns the last load or atomic before `pc` in the loop around it.
std::optional<std::uint32_t> poll_of(const isa::Program& program, std::uint32_t pc) {
  const std::optional<std::uint32_t> begin = begin_of_loop(program, pc);
  if (!begin) return std::nullopt;
  for (std::uint32_t at = pc + 1; at > *begin; --at)
    if (polls(program.instructions[at - 1])) return at - 1;
  const auto end = static_cast<std::uint32_t>(program.instructions.size());
  for (std::uint32_t at = pc + 1; at < end && at < pc + reach; ++at)
    if (polls(program.instructions[at])) return at;
  return std::nullopt;
}

std::uint64_t value_of(const isa::WarpContext& context, isa::Operand operand, unsigned lane,
                       bool wide) {
  const std::uint32_t* row = context.row(operand);
  std::uint64_t value = 0;
  std::memcpy(&value, wide ? row + 2 * lane : row + lane, wide ? 8 : 4);
  return value;
}

/// Returns the mbarrier for which the lane waits, or whose phase it tests.
std::string awaited_barrier(const ResidentBlocks& blocks, const Warp& warp, std::uint32_t pc,
                            unsigned lane) {
  const GridSlot& grid = blocks.grid_of(warp);
  const Instruction& instruction = grid.instructions[pc];
  alignas(64) std::array<std::uint32_t, 64 * isa::warp_size> scratch{};
  LaneAddresses address;
  lane_addresses(instruction, grid.context_of(warp.registers, scratch.data()), 1u << lane, address);
  const isa::Space space = instruction.memory.space;
  const BlockSlot& block = blocks.block_of(warp);
  if (isa::place_mistake(space, address[lane], block.shared_bytes)) return "";
  const std::uint64_t offset = isa::mbarrier_offset(space, address[lane]);
  std::uint64_t word = 0;
  std::memcpy(&word, blocks.shared_memory_of(block) + offset, sizeof word);
  return " for " + isa::mbarrier_text(word, offset);
}

std::string what_it_polls(const ResidentBlocks& blocks, const Warp& warp, std::uint32_t pc,
                          unsigned lane) {
  const GridSlot& grid = blocks.grid_of(warp);
  const std::optional<std::uint32_t> poll = poll_of(*grid.program, pc);
  if (!poll) return "";
  const Instruction& instruction = grid.instructions[*poll];
  if (instruction.category == Category::phase_wait)
    return fmt::format(" and waits at line {}{}", grid.program->source_lines[*poll],
                       awaited_barrier(blocks, warp, *poll, lane));
  alignas(64) std::array<std::uint32_t, 64 * isa::warp_size> scratch{};
  isa::WarpContext context = grid.context_of(warp.registers, scratch.data());
  context.active = 1u << lane;
  if ((grid.issue->records[*poll].flags & IssueRecord::computes_address) != 0) {
    const Instruction& computation = grid.instructions[instruction.target];
    computation.execute(computation, context);
  }
  LaneAddresses address;
  lane_addresses(instruction, context, context.active, address);
  const isa::MemoryFields& memory = instruction.memory;
  std::string text = fmt::format(" and polls {} {:#x} (line {})",
                                 memory.space == isa::Space::shared ? "shared address" : "address",
                                 address[lane], grid.program->source_lines[*poll]);
  if (memory.elements == 1 && instruction.destination[0].is_register())
    text += fmt::format(", {:#x} when last read", value_of(context, instruction.destination[0],
                                                           lane, memory.register_bytes == 8));
  return text;
}

std::string standing_block(const ResidentBlocks& blocks, const WarpStates& states,
                           const BlockSlot& block) {
  // Number of warps at each line and wait.
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for_each_warp(block.warps, [&](WarpSlot slot) {
    const Warp& warp = blocks.warp(slot);
    if (warp.paths.finished()) return;
    const isa::Program& program = *blocks.grid_of(warp).program;
    warp.paths.for_each_path([&](std::uint32_t pc, std::uint32_t lanes) {
      if (pc >= program.source_lines.size()) return;
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const bool is_at_wait = program.instructions[pc].category == Category::phase_wait;
      ++places[{
          std::to_string(program.source_lines[pc]),
          cause_of(states, bit_of(slot)) + (is_at_wait ? awaited_barrier(blocks, warp, pc, lane)
                                                       : what_it_polls(blocks, warp, pc, lane))}];
    });
  });
  std::string text;
  std::size_t listed = 0;
  for (const auto& [place, count] : places)
    if (listed++ < most_places)
      text += fmt::format("{}{} at line {} {}", text.empty() ? "" : "; ",
                          count == 1 ? "a warp" : fmt::format("{} warps", count), place.first,
                          place.second);
  if (listed > most_places) text += fmt::format("; {} other places", listed - most_places);
  return text;
}

}  // namespace

std::string standing_blocks(const ResidentBlocks& blocks, const WarpStates& states,
                            const std::vector<std::string>& tenants) {
  std::string text;
  std::size_t listed = 0;
  std::uint64_t seen = 0;
  for_each_warp(blocks.resident(), [&](WarpSlot slot) {
    const Warp& first = blocks.warp(slot);
    if ((seen >> first.block & 1) != 0) return;
    seen |= std::uint64_t{1} << first.block;
    if (listed++ >= most_blocks) return;
    const BlockSlot& block = blocks.block_of(first);
    const GridSlot& grid = blocks.grid_of(first);
    text += fmt::format("{}tenant {}, kernel {} ({}), block ({}, {}, {}): {}",
                        text.empty() ? "" : "\n    ", tenants.at(first.tenant),
                        isa::kernel_title(grid.program->name), grid.module->file,
                        block.coordinates[0], block.coordinates[1], block.coordinates[2],
                        standing_block(blocks, states, block));
  });
  if (listed > most_blocks) text += fmt::format("\n    and {} more blocks", listed - most_blocks);
  return text;
}

}  // namespace lockstep
