#include "models/isa/interpreter/bulk_copies.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "models/isa/bulk/reduction.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {

using ir::BulkCopyStep;

/// Memory is fresh to which nothing was written.
void BulkCopies::touch_fresh(const InterpretedWarp& warp, std::uint64_t address, bool reads) {
  LaunchState& state = block_.state_;
  if (reads && state.launch.fresh_read)
    state.launch.fresh_read(address,
                            block_.place_of(warp) + ": kernel " + kernel_title(state.program.name));
  state.memory.end_freshness();
}

void BulkCopies::copy(const InterpretedWarp& warp, const Instruction& instruction,
                      std::uint32_t active) {
  const BulkCopyForm form = BulkCopyForm::unpack(instruction.target);
  const auto row = [&](Operand operand) { return block_.row(warp, operand); };
  for_each_lane(active, [&](unsigned lane) {
    const std::uint64_t address = block_.address_of(warp, instruction, lane);
    if (form.rank != 0)
      return copy_tile(warp, instruction, tile_copy_of(instruction, address, lane, row), lane);
    copy_bytes(warp, instruction,
               bulk_copy_of(address, row(instruction.source[1]), row(instruction.source[2]), lane),
               lane);
  });
}

void BulkCopies::copy_bytes(const InterpretedWarp& warp, const Instruction& instruction,
                            const BulkCopy& copy, unsigned lane) {
  const BulkCopyStep step = BulkCopyForm::unpack(instruction.target).step;
  if (const InstructionMistake mistake = bulk_copy_mistake(step, copy, block_.shared_.size()))
    block_.fail(warp, lane, mistake.what, mistake.advice);
  if (step == BulkCopyStep::prefetch) return;
  const bool loads = step == BulkCopyStep::load;
  if (copy.bytes != 0) {
    std::byte* global = global_at(warp, lane, copy.global, copy.bytes);
    if (block_.state_.memory.is_fresh()) touch_fresh(warp, copy.global, loads);
    std::byte* shared = block_.shared_.data() + copy.shared;
    if (loads) {
      block_.proxies_.write(copy.shared, copy.bytes);
    } else {
      block_.proxies_.read(warp, lane, copy.shared, copy.bytes);
    }
    if (step == BulkCopyStep::reduce) {
      block_.state_.changed = true;
      reduce(instruction.memory.atomic, instruction.memory.type, global, shared, copy.bytes);
    } else {
      block_.state_.changed = block_.state_.changed || std::memcmp(shared, global, copy.bytes) != 0;
      std::memcpy(loads ? shared : global, loads ? global : shared, copy.bytes);
    }
  }
  if (loads) block_.phase_waits_.complete(warp, lane, copy.barrier, copy.bytes);
}

void BulkCopies::copy_tile(const InterpretedWarp& warp, const Instruction& instruction,
                           const TileCopy& copy, unsigned lane) {
  const BulkCopyForm form = BulkCopyForm::unpack(instruction.target);
  const auto require = [&](const InstructionMistake& mistake) {
    if (mistake) block_.fail(warp, lane, mistake.what, mistake.advice);
  };
  const TensorMap::Bytes bytes = map_at(warp, copy.map, lane);
  require(map_mistake(copy.map, bytes, form.rank));
  const TensorMap map = decode(bytes);
  require(tile_copy_mistake(form.step, copy, map, block_.shared_.size()));
  if (form.step == BulkCopyStep::reduce) require(reduction_mistake(instruction.memory.atomic, map));
  if (form.step == BulkCopyStep::prefetch) return;
  const TensorTile tile(map, copy.first, copy.shared);
  const TensorTile::Extent extent = tile.extent();
  const bool loads = form.step == BulkCopyStep::load;
  std::byte* global = nullptr;
  if (extent.bytes != 0) {
    global = global_at(warp, lane, extent.first, extent.bytes);
    if (block_.state_.memory.is_fresh()) touch_fresh(warp, extent.first, loads);
  }
  block_.state_.changed = true;
  if (loads) {
    block_.proxies_.write(copy.shared, tile.bytes());  // a swizzle stays among these
  } else {
    block_.proxies_.read(warp, lane, copy.shared, tile.bytes());
  }
  move(tile, instruction, global);
  if (loads) block_.phase_waits_.complete(warp, lane, copy.barrier, tile.bytes());
}

void BulkCopies::move(const TensorTile& tile, const Instruction& instruction, std::byte* global) {
  const BulkCopyStep step = BulkCopyForm::unpack(instruction.target).step;
  constexpr std::uint64_t whole_rows = std::uint64_t{1} << 32;
  std::byte* shared = block_.shared_.data();
  const std::uint64_t first = tile.extent().first;
  for (std::uint32_t at = 0; at < tile.bytes();) {
    const TileRun run = tile.run_from(at, whole_rows);
    at += run.bytes;
    if (!run.inside) {
      if (step == BulkCopyStep::load) tile.fill(run, shared);
      continue;
    }
    tile.for_each_piece(run, [&](std::uint32_t offset, std::uint32_t place, std::uint32_t bytes) {
      std::byte* there = global + (run.global - first) + offset;
      if (step == BulkCopyStep::load) {
        std::memcpy(shared + place, there, bytes);
      } else if (step == BulkCopyStep::reduce) {
        reduce(instruction.memory.atomic, reduced_type(tile.map().type), there, shared + place,
               bytes);
      } else {
        std::memcpy(there, shared + place, bytes);
      }
    });
  }
}

TensorMap::Bytes BulkCopies::map_at(const InterpretedWarp& warp, std::uint64_t address,
                                    unsigned lane) {
  const LaunchState& state = block_.state_;
  TensorMap::Bytes bytes;
  const std::byte* from = address >= first_global_address
                              ? block_.state_.memory.find(address, bytes.size())
                          : address >= parameter_window_base
                              ? map_in_bank(state.launch.parameters, parameter_window_base, address)
                          : address >= constant_window_base
                              ? map_in_bank(state.constant_memory, constant_window_base, address)
                              : nullptr;
  if (from == nullptr) {
    const InstructionMistake mistake = no_map_mistake(address);
    block_.fail(warp, lane, mistake.what, mistake.advice);
  }
  std::memcpy(bytes.data(), from, bytes.size());
  return bytes;
}

std::byte* BulkCopies::global_at(const InterpretedWarp& warp, unsigned lane, std::uint64_t address,
                                 std::uint64_t bytes) {
  std::byte* global = block_.state_.memory.find(address, bytes);
  if (global == nullptr)
    block_.fail(warp, lane,
                fmt::format("out-of-bounds bulk copy of {} bytes at {:#x}", bytes, address),
                "check the index, and the size of what it goes into");
  return global;
}

}  // namespace lockstep::isa
