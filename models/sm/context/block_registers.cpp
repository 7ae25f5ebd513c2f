/// Registers in the contexts of blocks, by kind.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "models/sm/context/block_contexts.hpp"
#include "models/sm/context/needed_rows.hpp"
#include "models/sm/context/overwrite.hpp"

namespace lockstep {

namespace {

/// In front of the registers.
struct RegisterHeader {
  std::uint32_t bytes = 0;  ///< bytes, header included
  std::uint32_t whole = 0;  ///< 1: compressed over the block
};

}  // namespace

std::size_t BlockContexts::occupied_bytes(const BlockSlot& block) const {
  return blocks_.grid(block.grid).block.registers * sizeof(std::uint32_t);
}

std::size_t BlockContexts::bytes_of_registers(const std::vector<std::byte>& context) {
  RegisterHeader header;
  std::memcpy(&header, context.data(), sizeof header);
  return header.bytes;
}

/// Each warp has an equal part of the block's registers, behind the header.  Unneeded rows fill the
/// rest of that part, behind needed rows and predicates: on hardware these share the registers,
/// while here values of 64 bits have rows of their own.
std::vector<WarpRegisters> BlockContexts::with_unneeded(const BlockSlot& block,
                                                        std::vector<WarpRegisters> warps) const {
  const GridSlot& grid = blocks_.grid(block.grid);
  const std::size_t bytes = (occupied_bytes(block) - sizeof(RegisterHeader)) / grid.block.warps;
  const std::size_t predicates = grid.program->predicates * sizeof(std::uint32_t);
  const std::size_t room = bytes > predicates ? (bytes - predicates) / sizeof(LaneValues) : 0;
  for (WarpRegisters& warp : warps) {
    std::size_t taken = 0;
    for (const std::uint64_t word : warp.needed) taken += std::popcount(word);
    for (unsigned row = 0; row < grid.issue->rows && taken < room; ++row) {
      if (warp.needs(row)) continue;
      warp.needed[row / 64] |= std::uint64_t{1} << row % 64;
      ++taken;
    }
  }
  return warps;
}

std::vector<WarpRegisters> BlockContexts::registers_of(const BlockSlot& block,
                                                       const std::vector<SavedWarp>& warps) const {
  const GridSlot& grid = blocks_.grid(block.grid);
  const std::uint32_t threads = grid.launch.threads_per_block();
  std::vector<WarpRegisters> all;
  for (const WarpSlot slot : warps_in_order(block)) {
    const Warp& warp = blocks_.warp(slot);
    const SavedWarp& saved = warps[warp.warp_in_block];
    if (saved.left) continue;
    all.push_back(
        {warp.registers, needed_rows(*grid.issue, saved.paths, saved.accesses),
         std::min<unsigned>(threads - warp.warp_in_block * isa::warp_size, isa::warp_size)});
  }
  return all;
}

RegisterShape BlockContexts::shape_of(const BlockSlot& block) const {
  const GridSlot& grid = blocks_.grid(block.grid);
  return {grid.issue->rows, grid.issue->pair_rows, grid.program->predicates,
          grid.launch.threads[0]};
}

bool BlockContexts::stands_at_barrier(const BlockSlot& block,
                                      const std::vector<SavedWarp>& warps) const {
  const GridSlot& grid = blocks_.grid(block.grid);
  std::optional<std::uint32_t> first;
  return std::all_of(warps.begin(), warps.end(), [&](const SavedWarp& warp) {
    bool there = !warp.left;
    warp.paths.for_each_path([&](std::uint32_t pc, std::uint32_t) {
      if (!first) first = pc;
      there &= pc == *first && grid.instructions[pc].category == isa::Category::barrier;
    });
    return there;
  });
}

void BlockContexts::write_registers(BlockPlace place, const std::vector<SavedWarp>& warps,
                                    bool keeps, BlockContext& context) {
  const BlockSlot& block = blocks_.block(place);
  const RegisterShape shape = shape_of(block);
  const std::vector<WarpRegisters> registers = registers_of(block, warps);
  const std::span<std::byte> rows = blocks_.rows_of(place);
  std::vector<std::byte>& bytes = context.bytes;
  RegisterImage::Classes classes;
  const RegisterImage image(shape);
  RegisterHeader header;
  header.whole = kind_ == ContextKind::live_compressed_block && stands_at_barrier(block, warps);
  bytes.resize(sizeof header);
  if (kind_ == ContextKind::occupied) {
    image.write(with_unneeded(block, registers), bytes);
    bytes.resize(std::max(bytes.size(), occupied_bytes(block)));
  } else if (kind_ == ContextKind::live) {
    image.write(registers, bytes);
  } else {
    classes = header.whole != 0 ? image.write_block(registers, bytes)
                                : image.write_compressed(registers, bytes);
  }
  header.bytes = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (keeps) {
    context.kept.registers = std::exchange(bytes, {});
    context.kept.register_count = blocks_.grid(block.grid).block.registers;
  } else {
    context.parts.register_bytes = static_cast<std::uint32_t>(bytes.size());
    context.parts.stated_bytes = std::min<std::uint32_t>(
        context.parts.register_bytes, blocks_.grid(block.grid).block.registers * 4);
    context.parts.compressed =
        std::accumulate(classes.of_warps.begin() + 1, classes.of_warps.end(), 0u);
  }
  overwrite(rows);
  count_registers(block, registers, classes, bytes.size());
}

void BlockContexts::count_registers(const BlockSlot& block,
                                    const std::vector<WarpRegisters>& registers,
                                    const RegisterImage::Classes& classes, std::size_t saved) {
  const GridSlot& grid = blocks_.grid(block.grid);
  SmStatistics::OfTenant& counts = statistics_.tenant[grid.launch.tenant];
  std::size_t live = 0;
  for (const WarpRegisters& warp : registers) {
    for (const std::uint64_t word : warp.needed)
      live += static_cast<unsigned>(std::popcount(word)) * sizeof(LaneValues);
    live += grid.program->predicates * sizeof(std::uint32_t);
  }
  counts.context_parts[SmStatistics::registers_occupied] += occupied_bytes(block);
  counts.context_parts[SmStatistics::registers_live] += live;
  counts.context_parts[SmStatistics::registers_saved] += saved;
  for (std::size_t c = 0; c < classes.of_warps.size(); ++c)
    counts.context_registers[c] += classes.of_warps[c];
  for (std::size_t c = 0; c < classes.of_blocks.size(); ++c)
    counts.context_block_registers[c] += classes.of_blocks[c];
}

void BlockContexts::read_registers(BlockPlace place, const std::vector<SavedWarp>& warps,
                                   const std::vector<std::byte>& context) {
  const BlockSlot& block = blocks_.block(place);
  const std::span<std::byte> rows = blocks_.rows_of(place);
  overwrite(rows);
  RegisterHeader header;
  std::memcpy(&header, context.data(), sizeof header);
  const std::vector<WarpRegisters> registers = registers_of(block, warps);
  const RegisterImage image(shape_of(block));
  const std::byte* from = context.data() + sizeof header;
  if (kind_ == ContextKind::occupied) {
    image.read(from, with_unneeded(block, registers));
  } else if (kind_ == ContextKind::live) {
    image.read(from, registers);
  } else if (header.whole != 0) {
    image.read_block(from, registers);
  } else {
    image.read_compressed(from, registers);
  }
}

}  // namespace lockstep
