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

/// Notes an access to memory that has never been written.
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
  if (step == BulkCopyStep::load || step == BulkCopyStep::send)
    return load(warp, instruction, copy, lane);
  if (const InstructionMistake mistake = bulk_copy_mistake(step, copy, block_.shared_.size()))
    block_.fail(warp, lane, mistake.what, mistake.advice);
  if (step == BulkCopyStep::prefetch || copy.bytes == 0) return;
  std::byte* global = global_at(warp, lane, copy.global, copy.bytes);
  if (block_.state_.memory.is_fresh()) touch_fresh(warp, copy.global, false);
  std::byte* shared = block_.shared_.data() + copy.shared;
  block_.proxies_.read(warp, lane, copy.shared, copy.bytes);
  if (step == BulkCopyStep::reduce) {
    block_.state_.changed = true;
    reduce(instruction.memory.atomic, instruction.memory.type, global, shared, copy.bytes);
  } else {
    block_.state_.changed = block_.state_.changed || std::memcmp(shared, global, copy.bytes) != 0;
    std::memcpy(global, shared, copy.bytes);
  }
}

std::uint32_t BulkCopies::ranks_of(const InterpretedWarp& warp, const Instruction& instruction,
                                   unsigned lane) const {
  const RanksPlace place = ranks_place(BulkCopyForm::unpack(instruction.target));
  return block_.row(warp, instruction.source[place.source])[2 * lane + place.half];
}

template <class Function>
void BulkCopies::for_each_target(const InterpretedWarp& warp, const Instruction& instruction,
                                 unsigned lane, std::uint32_t shared, std::uint32_t barrier,
                                 Function&& function) {
  const auto to = block_.in_cluster_.find(warp, lane, shared, "bulk copy");
  const auto counter = block_.in_cluster_.find(warp, lane, barrier, "mbarrier");
  if (!BulkCopyForm::unpack(instruction.target).multicast) {
    block_.in_cluster_.require_same_block(warp, lane, to, counter);
    return function(Target{to.block, to.offset, counter.offset});
  }
  for_each_lane(ranks_of(warp, instruction, lane), [&](unsigned rank) {
    const std::uint32_t code = ClusterAddress::in_block(0, rank);
    BlockRunner* const block = block_.in_cluster_.find(warp, lane, code, "ctaMask").block;
    function(Target{block, to.offset, counter.offset});
  });
}

/// Copies from global memory, or from the block's shared memory to another block's.
void BulkCopies::load(const InterpretedWarp& warp, const Instruction& instruction,
                      const BulkCopy& copy, unsigned lane) {
  const BulkCopyStep step = BulkCopyForm::unpack(instruction.target).step;
  const bool sends = step == BulkCopyStep::send;
  for_each_target(warp, instruction, lane, copy.shared, copy.barrier, [&](const Target& target) {
    BulkCopy there = copy;
    there.shared = target.shared;
    there.barrier = target.barrier;
    BlockRunner& home = *target.block;
    if (const InstructionMistake mistake = bulk_copy_mistake(step, there, home.shared_.size()))
      block_.fail(warp, lane, mistake.what, mistake.advice);
    if (copy.bytes != 0) {
      std::byte* const from = sends ? block_.shared_bytes(copy.global, copy.bytes)
                                    : global_at(warp, lane, copy.global, copy.bytes);
      if (from == nullptr)
        block_.fail(warp, lane,
                    fmt::format("bulk copy of {} bytes from shared address {:#x}, outside of the "
                                "block's {} bytes",
                                copy.bytes, copy.global, block_.shared_.size()),
                    "check the index, the declaration and the launch's `shared:`");
      if (sends) {
        block_.proxies_.read(warp, lane, copy.global, copy.bytes);
      } else if (block_.state_.memory.is_fresh()) {
        touch_fresh(warp, copy.global, true);
      }
      home.proxies_.write(there.shared, copy.bytes);
      std::byte* const to = home.shared_.data() + there.shared;
      if (instruction.memory.atomic != AtomicOperation::none) {
        block_.state_.changed = true;
        reduce(instruction.memory.atomic, instruction.memory.type, to, from, copy.bytes);
        return block_.in_cluster_.complete(warp, lane, {target.block, target.barrier}, copy.bytes);
      }
      block_.state_.changed = block_.state_.changed || std::memcmp(to, from, copy.bytes) != 0;
      std::memmove(to, from, copy.bytes);
    }
    block_.in_cluster_.complete(warp, lane, {target.block, target.barrier}, copy.bytes);
  });
}

std::byte* BulkCopies::global_of(const InterpretedWarp& warp, unsigned lane,
                                 const TensorTile::Extent& extent, bool reads) {
  if (extent.bytes == 0) return nullptr;
  std::byte* const bytes = global_at(warp, lane, extent.first, extent.bytes);
  if (block_.state_.memory.is_fresh()) touch_fresh(warp, extent.first, reads);
  return bytes;
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
  if (form.step == BulkCopyStep::load) return load_tile(warp, instruction, copy, map, lane);
  require(tile_copy_mistake(form.step, copy, map, block_.shared_.size()));
  if (form.step == BulkCopyStep::reduce) require(reduction_mistake(instruction.memory.atomic, map));
  if (form.step == BulkCopyStep::prefetch) return;
  const TensorTile tile(map, copy.first, copy.shared);
  std::byte* const global = global_of(warp, lane, tile.extent(), false);
  block_.state_.changed = true;
  block_.proxies_.read(warp, lane, copy.shared, tile.bytes());
  move(tile, instruction, global, block_.shared_.data());
}

void BulkCopies::load_tile(const InterpretedWarp& warp, const Instruction& instruction,
                           const TileCopy& copy, const TensorMap& map, unsigned lane) {
  for_each_target(warp, instruction, lane, copy.shared, copy.barrier, [&](const Target& target) {
    TileCopy there = copy;
    there.shared = target.shared;
    there.barrier = target.barrier;
    BlockRunner& home = *target.block;
    if (const InstructionMistake mistake =
            tile_copy_mistake(BulkCopyStep::load, there, map, home.shared_.size()))
      block_.fail(warp, lane, mistake.what, mistake.advice);
    const TensorTile tile(map, there.first, there.shared);
    std::byte* const global = global_of(warp, lane, tile.extent(), true);
    block_.state_.changed = true;
    // A swizzle moves bytes only within this stretch.
    home.proxies_.write(there.shared, tile.bytes());
    move(tile, instruction, global, home.shared_.data());
    block_.in_cluster_.complete(warp, lane, {target.block, target.barrier}, tile.bytes());
  });
}

void BulkCopies::move(const TensorTile& tile, const Instruction& instruction, std::byte* global,
                      std::byte* shared) {
  const BulkCopyStep step = BulkCopyForm::unpack(instruction.target).step;
  constexpr std::uint64_t whole_rows = std::uint64_t{1} << 32;
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
