#include "models/sm/parameters/occupancy.hpp"

#include <algorithm>

#include "core/memory/round_up.hpp"
#include "models/sm/parameters/log_entries.hpp"

namespace lockstep {

namespace {

std::string too_many(const char* what, std::uint32_t has, std::uint32_t limit) {
  return "a block needs " + std::to_string(has) + " " + what + ", an SM has " +
         std::to_string(limit);
}

}  // namespace

BlockResources& BlockResources::operator+=(const BlockResources& other) {
  threads += other.threads;
  warps += other.warps;
  blocks += other.blocks;
  registers += other.registers;
  shared_bytes += other.shared_bytes;
  barriers += other.barriers;
  log_entries += other.log_entries;
  return *this;
}

BlockResources& BlockResources::operator-=(const BlockResources& other) {
  threads -= other.threads;
  warps -= other.warps;
  blocks -= other.blocks;
  registers -= other.registers;
  shared_bytes -= other.shared_bytes;
  barriers -= other.barriers;
  log_entries -= other.log_entries;
  return *this;
}

bool BlockResources::leaves_room_for(const BlockResources& more,
                                     const OccupancyLimits& limits) const {
  return threads + more.threads <= limits.threads && warps + more.warps <= limits.warps &&
         blocks + more.blocks <= limits.blocks && registers + more.registers <= limits.registers &&
         shared_bytes + more.shared_bytes <= limits.shared_bytes &&
         log_entries + more.log_entries <= limits.log_entries;
}

std::uint64_t BlockResources::dominant_share(const OccupancyLimits& limits) const {
  const auto share = [](std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : part * whole / all;
  };
  return std::max({share(threads, limits.threads), share(warps, limits.warps),
                   share(blocks, limits.blocks), share(registers, limits.registers),
                   share(shared_bytes, limits.shared_bytes)});
}

BlockResources block_resources(const isa::Program& program, std::uint32_t threads,
                               std::uint32_t dynamic_shared_bytes, const OccupancyLimits& limits,
                               std::uint32_t registers) {
  BlockResources block;
  block.threads = threads;
  block.warps = (threads + isa::warp_size - 1) / isa::warp_size;
  block.blocks = 1;
  const std::uint32_t per_thread = registers != 0 ? registers : program.registers_per_thread;
  const std::uint64_t warp_registers = std::uint64_t{per_thread} * isa::warp_size;
  block.registers =
      block.warps * static_cast<std::uint32_t>(round_up(warp_registers, limits.register_unit));
  block.shared_bytes = static_cast<std::uint32_t>(
      round_up(program.static_shared_bytes + dynamic_shared_bytes, limits.shared_unit));
  block.barriers = program.barriers;
  if (limits.log_entries > 0) block.log_entries = largest_log_entries(program);
  return block;
}

std::string why_block_does_not_fit(const BlockResources& block, const OccupancyLimits& limits) {
  if (block.threads == 0) return "a block has no threads";
  if (block.threads > limits.threads_per_block) {
    return "a block has " + std::to_string(block.threads) + " threads, the limit is " +
           std::to_string(limits.threads_per_block);
  }
  if (block.threads > limits.threads) return too_many("threads", block.threads, limits.threads);
  if (block.warps > limits.warps) return too_many("warp slots", block.warps, limits.warps);
  if (block.registers > limits.registers) {
    return too_many("registers", block.registers, limits.registers);
  }
  const std::uint32_t shared = std::min(limits.shared_bytes, limits.shared_bytes_per_block);
  if (block.shared_bytes > shared) {
    return "a block needs " + std::to_string(block.shared_bytes) +
           " bytes of shared memory, the limit is " + std::to_string(shared);
  }
  if (block.log_entries > limits.log_entries)
    return too_many("entries of the operand log for its largest memory instruction",
                    block.log_entries, limits.log_entries);
  if (block.barriers > limits.barriers) {
    return too_many("named barriers", block.barriers, limits.barriers);
  }
  return "";
}

std::uint32_t registers_that_fit(std::uint32_t threads, const OccupancyLimits& limits) {
  const std::uint32_t warps = (threads + isa::warp_size - 1) / isa::warp_size;
  if (warps == 0) return limits.registers / isa::warp_size;
  return limits.registers / warps / limits.register_unit * limits.register_unit / isa::warp_size;
}

std::uint32_t blocks_per_sm(const BlockResources& block, const OccupancyLimits& limits) {
  std::uint32_t count = 0;
  for (BlockResources used; used.leaves_room_for(block, limits); used += block) ++count;
  return count;
}

}  // namespace lockstep
