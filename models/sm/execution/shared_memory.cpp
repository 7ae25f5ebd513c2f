#include "models/sm/execution/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/memory/kept.hpp"
#include "models/isa/atomic.hpp"
#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/move_matrices.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/access/lane_elements.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Category;
using isa::for_each_lane;
using isa::Instruction;

namespace {

constexpr std::uint32_t all_lanes = 0xffffffff;

/// Returns whether the access is one of 32-bit registers by all lanes.
bool is_plain(const isa::MemoryFields& memory, std::uint32_t lanes) {
  return lanes == all_lanes && moves_words(memory);
}

/// Loads lane l's 32 bits from first + relative[l].
void load_plain(std::uint32_t* row, const std::byte* first, const LanePattern& pattern) {
  const auto at = [&](unsigned lane) {
    return first + static_cast<std::int32_t>(pattern.relative[lane]);
  };
  if (pattern.shape == LanePattern::quads_of_neighbours) {
    for (unsigned lane = 0; lane < 32; lane += 4) std::memcpy(row + lane, at(lane), 16);
  } else if (pattern.shape == LanePattern::quads_of_one) {
    for (unsigned lane = 0; lane < 32; lane += 4) {
      std::uint32_t value;
      std::memcpy(&value, at(lane), 4);
      const std::array<std::uint32_t, 4> four{value, value, value, value};
      std::memcpy(row + lane, four.data(), 16);
    }
  } else {
    for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(row + lane, at(lane), 4);
  }
}

void store_plain(const std::uint32_t* row, std::byte* first, const LanePattern& pattern) {
  const auto at = [&](unsigned lane) {
    return first + static_cast<std::int32_t>(pattern.relative[lane]);
  };
  if (pattern.shape == LanePattern::quads_of_neighbours) {
    for (unsigned lane = 0; lane < 32; lane += 4) std::memcpy(at(lane), row + lane, 16);
  } else {
    for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(at(lane), row + lane, 4);
  }
}

void load_lanes(const Instruction& instruction, const isa::WarpContext& context,
                std::uint32_t lanes, const std::byte* first, const LanePattern& pattern) {
  const isa::MemoryFields& memory = instruction.memory;
  const bool is_one_for_four = pattern.shape == LanePattern::quads_of_one;
  if (is_plain(memory, lanes) && (is_one_for_four || memory.elements == 1)) {
    for (unsigned e = 0; e < memory.elements; ++e)
      if (instruction.destination[e].valid())
        load_plain(context.row(instruction.destination[e]), first + 4 * e, pattern);
    return;
  }
  load_elements(instruction, context, lanes, [&](unsigned lane) {
    return first + static_cast<std::int32_t>(pattern.relative[lane]);
  });
}

void store_lanes(const Instruction& instruction, const isa::WarpContext& context,
                 std::uint32_t lanes, std::byte* first, const LanePattern& pattern) {
  const isa::MemoryFields& memory = instruction.memory;
  if (is_plain(memory, lanes) && memory.elements == 1) {
    store_plain(context.row(instruction.source[1]), first, pattern);
    return;
  }
  store_elements(instruction, context, lanes, [&](unsigned lane) {
    return first + static_cast<std::int32_t>(pattern.relative[lane]);
  });
}

void atomic_lanes(const Instruction& instruction, const isa::WarpContext& context,
                  std::uint32_t lanes, std::byte* first, const LanePattern& pattern) {
  const isa::AtomicShape shape = atomic_shape(instruction);
  for_each_lane(lanes, [&](unsigned lane) {
    std::byte* at = first + static_cast<std::int32_t>(pattern.relative[lane]);
    const auto operands = atomic_operands(instruction, context, lane);
    std::array<std::uint64_t, 2> old;
    isa::modify(shape, at, operands.data(), old.data());
    if (instruction.memory.returns)
      write_elements(instruction, context, lane, reinterpret_cast<const std::byte*>(old.data()));
  });
}

/// Returns the most rows that differ in one column of banks as wide as a row.
unsigned matrix_conflicts(const std::uint64_t* rows, unsigned columns) {
  const auto column_of = [&](unsigned r) { return rows[r] / isa::matrix_row_bytes % columns; };
  std::uint64_t taken = 0;
  for (unsigned r = 0; r < isa::matrix_rows; ++r) taken |= std::uint64_t{1} << column_of(r) % 64;
  if (std::popcount(taken) == isa::matrix_rows) return 1;
  unsigned most = 1;
  for (unsigned r = 0; r < isa::matrix_rows; ++r) {
    unsigned together = 0;
    for (unsigned other = 0; other < isa::matrix_rows; ++other) {
      const bool first = std::find(rows, rows + other, rows[other]) == rows + other;
      together += first && column_of(other) == column_of(r) ? 1 : 0;
    }
    most = std::max(most, together);
  }
  return most;
}

}  // namespace

/// The first active lane's place in shared memory; null if some lane's is outside or misaligned.
inline std::byte* SharedMemoryUnit::place(const BlockSlot& block, const LanePattern& pattern,
                                          std::int64_t base, unsigned bytes) {
  const bool wrong = base + pattern.least < 0 || base + pattern.most + bytes > block.shared_bytes ||
                     ((static_cast<std::uint32_t>(base) | pattern.low_bits) & (bytes - 1)) != 0;
  if (wrong) [[unlikely]]
    return nullptr;
  return blocks_.shared_memory_of(block) + base;
}

/// Lets the banks take `degree` cycles; returns the cycle from which they are free.
inline SmCycle SharedMemoryUnit::serve(const Warp& warp, unsigned degree, SmCycle now) {
  ++statistics_.tenant[warp.tenant].shared_accesses;
  statistics_.tenant[warp.tenant].shared_conflict_cycles += degree - 1;
  return gate_.serve_banks(degree, now);
}

void SharedMemoryUnit::load_words(WarpSlot slot, const Instruction& instruction,
                                  const IssueRecord& record, SmCycle now) {
  Warp& warp = kept(blocks_.warp(slot));
  const std::uint32_t* address = blocks_.row_of(warp, instruction.source[0]);
  const auto base = static_cast<std::uint32_t>(*address + instruction.offset);
  const LanePattern& pattern = kept(pattern_of(
      instruction, LanePattern::key_of(all_lanes, 4, constants_.parameters.shared.banks, false),
      address, base));
  const std::byte* first = place(blocks_.block_of(warp), pattern, base, 4);
  if (first == nullptr) [[unlikely]]
    bad_address(warp, instruction, address, instruction.offset, all_lanes);
  load_plain(blocks_.row_of(warp, instruction.destination[0]), first, pattern);
  front_end_.commit_at(slot, warp, record, serve(warp, pattern.degree, now) - 1 + record.latency);
}

void SharedMemoryUnit::issue(WarpSlot slot, const Instruction& instruction,
                             const IssueRecord& record, std::uint32_t active,
                             const std::uint32_t* address, std::int64_t offset, bool commits,
                             SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  BlockSlot& block = blocks_.block_of(warp);
  if (instruction.category == Category::prefetch) return;
  const unsigned bytes = lane_bytes(instruction.memory);
  // 32-bit addresses wrap around.
  const auto base = static_cast<std::uint32_t>(address[std::countr_zero(active)] + offset);
  const LanePattern& pattern =
      pattern_of(instruction,
                 LanePattern::key_of(active, bytes, constants_.parameters.shared.banks,
                                     instruction.category == Category::atomic,
                                     constants_.parameters.shared.packed_returns &&
                                         instruction.category == Category::load),
                 address, base);
  std::byte* first = place(block, pattern, base, bytes);
  if (first == nullptr) [[unlikely]]
    bad_address(warp, instruction, address, offset, active);

  if (instruction.category == Category::load) {
    load_lanes(instruction, blocks_.context_of(warp), active, first, pattern);
  } else if (instruction.category == Category::store) {
    store_lanes(instruction, blocks_.context_of(warp), active, first, pattern);
  } else if (isa::is_of_mbarrier(instruction.memory.atomic)) {
    mbarriers_.change(slot, instruction, active, first, pattern, now);
  } else {
    atomic_lanes(instruction, blocks_.context_of(warp), active, first, pattern);
  }

  const SmCycle free = serve(warp, pattern.degree, now);
  if (commits) front_end_.commit_at(slot, warp, record, free - 1 + record.latency);
}

/// Issues loads or stores of matrices. Each matrix of eight rows takes the banks for a cycle, or
/// for as many cycles as different rows use the same banks of 16 bytes.
void SharedMemoryUnit::issue_matrices(WarpSlot slot, const Instruction& instruction,
                                      const IssueRecord& record, const LaneAddresses& address,
                                      SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  BlockSlot& block = blocks_.block_of(warp);
  const isa::WarpContext context = blocks_.context_of(warp);
  isa::move_matrices(
      instruction,
      [&](unsigned lane) {
        check_matrix_row(warp, block, lane, address[lane]);
        return blocks_.shared_memory_of(block) + address[lane];
      },
      [&](isa::Operand operand) { return context.row(operand); },
      [](std::byte* place, const std::uint32_t* words) {
        std::memcpy(place, words, isa::matrix_row_bytes);
      });
  const unsigned columns = constants_.parameters.shared.banks * 4 / isa::matrix_row_bytes;
  const unsigned count = isa::matrices_of(instruction);
  unsigned cycles = 0;
  for (unsigned j = 0; j < count; ++j)
    cycles += matrix_conflicts(&address[isa::matrix_rows * j], columns);
  ++statistics_.tenant[warp.tenant].shared_accesses;
  statistics_.tenant[warp.tenant].shared_conflict_cycles += cycles - count;
  blocks_.counts(warp.grid).matrix_wavefronts += cycles;
  front_end_.commit_at(slot, warp, record, gate_.serve_banks(cycles, now) - 1 + record.latency);
}

void SharedMemoryUnit::check_matrix_row(const Warp& warp, const BlockSlot& block, unsigned lane,
                                        std::uint64_t address) const {
  if (address % isa::matrix_row_bytes != 0) [[unlikely]]
    mistakes_.user_error(warp, warp.paths.pc(), lane,
                         "misaligned access of 16 bytes at " + hexadecimal(address),
                         "rows of matrices stand at multiples of 16 bytes");
  if (address > block.shared_bytes || block.shared_bytes - address < isa::matrix_row_bytes)
      [[unlikely]]
    outside(warp, lane, address);
}

void SharedMemoryUnit::outside(const Warp& warp, unsigned lane, std::uint64_t address) const {
  mistakes_.user_error(warp, warp.paths.pc(), lane,
                       "shared address " + hexadecimal(address) + " is outside of the block's " +
                           std::to_string(blocks_.block_of(warp).shared_bytes) + " bytes",
                       "an index runs over a shared array, or the launch's `shared:` is too small");
}

void SharedMemoryUnit::bad_address(const Warp& warp, const Instruction& instruction,
                                   const std::uint32_t* address, std::int64_t offset,
                                   std::uint32_t active) const {
  const std::uint32_t limit = blocks_.block_of(warp).shared_bytes;
  const unsigned bytes = lane_bytes(instruction.memory);
  LaneAddresses wide;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
    wide[lane] = static_cast<std::uint32_t>(address[lane] + offset);
    if (isa::is_of_mbarrier(instruction.memory.atomic) && ((active >> lane) & 1) != 0)
      if (const auto mistake = isa::place_mistake(isa::Space::shared, wide[lane], limit))
        mistakes_.user_error(warp, warp.paths.pc(), lane, mistake.what, mistake.advice);
    if (((active >> lane) & 1) && wide[lane] + bytes > limit) outside(warp, lane, wide[lane]);
  }
  mistakes_.misaligned(warp, wide, active, bytes);
}

}  // namespace lockstep
