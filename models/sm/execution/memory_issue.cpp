#include "models/sm/execution/memory_issue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/text/copy_mistakes.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/load_store/local_memory.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;
using isa::Space;

namespace {

constexpr bool in_window(std::uint64_t address, std::uint64_t base, std::uint64_t bytes) {
  return address - base < bytes;
}

/// Returns the lanes whose generic address lies in the window.
std::uint32_t lanes_in(const LaneAddresses& address, std::uint32_t active, std::uint64_t base,
                       std::uint64_t bytes) {
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    lanes |= std::uint32_t{in_window(address[lane], base, bytes)} << lane;
  return lanes & active;
}

/// Returns shared addresses from 64-bit registers. An address that does not fit lies outside every
/// block.
std::array<std::uint32_t, 32> narrow(const LaneAddresses& address) {
  std::array<std::uint32_t, 32> result;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    result[lane] = static_cast<std::uint32_t>(std::min<std::uint64_t>(address[lane], 0x7fffffff));
  return result;
}

/// Returns the places of these lanes in the block's own shared memory; the other lanes get the
/// place of the first one.
std::array<std::uint32_t, 32> own_offsets(std::array<std::uint32_t, 32> address,
                                          std::uint32_t lanes) {
  const std::uint32_t first = address[static_cast<unsigned>(std::countr_zero(lanes))];
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    address[lane] =
        isa::ClusterAddress::unpack((lanes >> lane & 1) != 0 ? address[lane] : first).offset;
  return address;
}

}  // namespace

inline void MemoryIssue::require_aligned(const Warp& warp, const LaneAddresses& address,
                                         std::uint32_t active, unsigned bytes) const {
  std::uint64_t low = 0;
  for (const std::uint64_t a : address) low |= a;
  if ((low & (bytes - 1)) != 0) [[unlikely]]
    mistakes_.misaligned(warp, address, active, bytes);
}

bool MemoryIssue::issue(WarpSlot slot, const Instruction& instruction, const IssueRecord& record,
                        std::uint32_t active, std::uint16_t member, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  if (record.flags & IssueRecord::computes_address) {
    isa::WarpContext context = blocks_.context_of(warp);
    context.active = active;
    const Instruction& computation = blocks_.instruction(warp, instruction.target);
    computation.execute(computation, context);
  }
  if (follows_words_) [[unlikely]]
    follow_words(warp, instruction, active);
  if (instruction.category == Category::copy) [[unlikely]] {
    issue_copy(slot, instruction, record, active, member, now);
    return false;
  }
  if (isa::moves_matrices(instruction)) [[unlikely]] {
    issue_matrices(slot, instruction, record, active, now);
    return false;
  }
  const bool acquires = (record.flags & IssueRecord::ordered_after) != 0;
  if (!acquires && load_store_.issue_consecutive(slot, instruction, record, active, member, now))
    return false;
  LaneAddresses address;
  lane_addresses(instruction, blocks_.context_of(warp), active, address);
  const unsigned bytes = lane_bytes(instruction.memory);
  if (bytes > 1 && instruction.category != Category::prefetch)
    require_aligned(warp, address, active, bytes);
  Space space = instruction.memory.space;
  if (space == Space::shared_cluster) [[unlikely]]
    return issue_cluster(slot, instruction, record, active, address, member, now);
  if (isa::is_of_mbarrier(instruction.memory.atomic)) [[unlikely]]
    require_barriers(warp, instruction, active, address);
  if (space == Space::generic) {
    // All windows lie below the first buffer.
    bool in_windows = false;
    for (std::uint64_t a : address) in_windows |= a < isa::first_global_address;
    if (in_windows) return issue_generic(slot, instruction, record, active, address, member, now);
    space = Space::global;
  }
  switch (space) {
    case Space::shared:
      shared_.issue(slot, instruction, record, active, narrow(address).data(), 0, true, now);
      return false;
    case Space::constant:
    case Space::parameter:
      constant_.issue(slot, instruction, record, active, address, true, now);
      return false;
    default: {
      const std::uint16_t flight =
          load_store_.issue_lines(slot, instruction, record, active, address, space == Space::local,
                                  Flights::none, member, now);
      return flight != Flights::none && acquires;
    }
  }
}

void MemoryIssue::require_barriers(const Warp& warp, const Instruction& instruction,
                                   std::uint32_t active, const LaneAddresses& address) const {
  const std::uint64_t shared_bytes = blocks_.block_of(warp).shared_bytes;
  isa::for_each_lane(active, [&](unsigned lane) {
    if (const isa::InstructionMistake mistake =
            isa::place_mistake(instruction.memory.space, address[lane], shared_bytes))
      mistakes_.user_error(warp, warp.paths.pc(), lane, mistake.what, mistake.advice);
  });
}

void MemoryIssue::issue_matrices(WarpSlot slot, const Instruction& instruction,
                                 const IssueRecord& record, std::uint32_t active, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  mistakes_.require_whole_warp(warp, instruction, active);
  LaneAddresses address;
  lane_addresses(instruction, blocks_.context_of(warp), active, address);
  shared_.issue_matrices(slot, instruction, record, address, now);
}

void MemoryIssue::follow_words(const Warp& warp, const Instruction& instruction,
                               std::uint32_t active) {
  const Space space = instruction.memory.space;
  const bool loads = instruction.category == Category::load;
  if ((space != Space::global && space != Space::generic) ||
      (!loads && instruction.category != Category::store))
    return;
  LaneAddresses address;
  lane_addresses(instruction, blocks_.context_of(warp), active, address);
  BlockProgress& progress = blocks_.block_of(warp).progress;
  const unsigned bytes = lane_bytes(instruction.memory);
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const std::uint64_t at = address[static_cast<unsigned>(std::countr_zero(left))];
    if (at < isa::first_global_address) continue;
    if (loads)
      progress.words.read(at, bytes);
    else if (!progress.words.write(at, bytes))
      progress.end_idempotence(warp.paths.pc());
  }
}

/// Bytes that the copy does not read become zero at once. All bytes that are read lie in the sector
/// of the first, so that one line brings them.
void MemoryIssue::issue_copy(WarpSlot slot, const Instruction& instruction,
                             const IssueRecord& record, std::uint32_t active, std::uint16_t member,
                             SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  const CopyTarget target = copy_target(instruction, context, active);
  const unsigned size = lane_bytes(instruction.memory);
  const BlockSlot& block = blocks_.block_of(warp);
  std::byte* const shared = blocks_.shared_memory_of(block);
  std::uint32_t reading = 0;
  isa::for_each_lane(active, [&](unsigned lane) {
    const std::uint32_t to = target.to[lane];
    if (to % size != 0 || std::uint64_t{to} + size > block.shared_bytes) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           isa::copy_target_mistake(to, size, block.shared_bytes),
                           isa::copy_target_advice);
    std::memset(shared + to + target.bytes[lane], 0, size - target.bytes[lane]);
    reading |= std::uint32_t{target.bytes[lane] != 0} << lane;
  });
  if (reading == 0) {
    if (member != FaultableAccesses::none) faultable_.left_unit(member, now);
    return;
  }
  LaneAddresses address;
  lane_addresses(instruction, context, reading, address);
  require_aligned(warp, address, reading, size);
  load_store_.issue_copy(slot, instruction, record, reading, address, target, member, now);
}

bool MemoryIssue::issue_cluster(WarpSlot slot, const Instruction& instruction,
                                const IssueRecord& record, std::uint32_t active,
                                const LaneAddresses& wide, std::uint16_t member, SmCycle now) {
  // No line of the access can fault: it counts as checked at once.
  const auto is_checked = [&](std::uint16_t flight) {
    if (member == FaultableAccesses::none) return;
    faultable_.flies(member, flight);
    faultable_.left_unit(member, now);
  };
  if (instruction.category == Category::prefetch) {
    is_checked(Flights::none);
    return false;
  }
  const Warp& warp = blocks_.warp(slot);
  RemoteAccesses::Addresses address = narrow(wide);
  const std::uint32_t elsewhere = remote_.lanes_elsewhere(warp, active, address);
  const std::uint32_t here = active & ~elsewhere;
  const unsigned bytes = isa::is_of_mbarrier(instruction.memory.atomic)
                             ? isa::MbarrierWord::bytes
                             : lane_bytes(instruction.memory);
  if (elsewhere != 0) remote_.require_right(warp, elsewhere, address, bytes);
  if (here != 0)
    shared_.issue(slot, instruction, record, here, own_offsets(address, here).data(), 0,
                  elsewhere == 0, now);
  if (elsewhere == 0) {
    is_checked(Flights::none);
    return false;
  }
  const bool brings = record.releases > 0;
  const std::uint16_t flight =
      brings ? flights_.begin(slot, warp.paths.pc(), record) : Flights::none;
  remote_.issue(slot, instruction, elsewhere, address, flight, now);
  is_checked(flight);
  if (!brings) return false;
  flights_.answered(flight, here != 0 ? now + record.latency : SmCycle{}, now);
  return (record.flags & IssueRecord::ordered_after) != 0;
}

bool MemoryIssue::issue_generic(WarpSlot slot, const Instruction& instruction,
                                const IssueRecord& record, std::uint32_t active,
                                const LaneAddresses& generic, std::uint16_t member, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const auto relative = [&](std::uint32_t lanes, std::uint64_t base) {
    LaneAddresses address;
    const std::uint64_t first = generic[static_cast<unsigned>(std::countr_zero(lanes))] - base;
    for (unsigned lane = 0; lane < isa::warp_size; ++lane)
      address[lane] = (lanes >> lane) & 1 ? generic[lane] - base : first;
    return address;
  };
  const std::uint32_t in_shared =
      lanes_in(generic, active, isa::shared_window_base, isa::shared_window_bytes);
  RemoteAccesses::Addresses in_cluster;
  std::uint32_t elsewhere = 0;
  if (in_shared != 0) {
    const LaneAddresses in_window = relative(in_shared, isa::shared_window_base);
    in_cluster = narrow(in_window);
    const bool names_blocks = std::ranges::any_of(in_cluster, [](std::uint32_t address) {
      return address >= isa::ClusterAddress::block_bytes;
    });
    if (names_blocks && in_shared == active)
      return issue_cluster(slot, instruction, record, active, in_window, member, now);
    if (names_blocks) {
      elsewhere = remote_.lanes_elsewhere(warp, in_shared, in_cluster);
      remote_.require_right(warp, elsewhere, in_cluster, lane_bytes(instruction.memory));
    }
  }
  const std::uint32_t in_own = in_shared & ~elsewhere;
  const std::uint32_t in_local =
      lanes_in(generic, active, isa::local_window_base, isa::local_window_bytes);
  const std::uint32_t in_constant = lanes_in(
      generic, active, isa::constant_window_base,
      isa::parameter_window_base + isa::parameter_window_bytes - isa::constant_window_base);
  const std::uint32_t in_global = active & ~in_shared & ~in_local & ~in_constant;
  if (in_local != 0 && instruction.category == Category::atomic) [[unlikely]]
    mistakes_.user_error(warp, warp.paths.pc(), static_cast<unsigned>(std::countr_zero(in_local)),
                         "atomic on local memory", "only global and shared memory have atomics");
  const bool mixed = in_global != 0 || in_local != 0 || (in_shared != 0 && in_constant != 0);
  if (in_local != 0)
    check_local(blocks_, mistakes_, warp, relative(in_local, isa::local_window_base), in_local,
                lane_bytes(instruction.memory));
  if (in_global != 0 && instruction.category != Category::prefetch)
    load_store_.require_in_buffers(warp, instruction, in_global, generic);
  if (in_own != 0)
    shared_.issue(slot, instruction, record, in_own, own_offsets(in_cluster, in_own).data(), 0,
                  !mixed, now);
  if (in_constant != 0)
    constant_.issue(slot, instruction, record, in_constant, relative(in_constant, 0), !mixed, now);
  std::uint16_t flight = Flights::none;
  if (mixed && record.releases > 0) flight = flights_.begin(slot, warp.paths.pc(), record);
  const std::uint16_t whole = flight;
  if (elsewhere != 0) [[unlikely]]
    remote_.issue(slot, instruction, elsewhere, in_cluster, whole, now);
  if (in_local != 0)
    flight = load_store_.issue_lines(slot, instruction, record, in_local,
                                     relative(in_local, isa::local_window_base), true, whole,
                                     FaultableAccesses::none, now);
  if (in_global != 0)
    flight = load_store_.issue_lines(slot, instruction, record, in_global, relative(in_global, 0),
                                     false, whole, member, now);
  if (in_global == 0 && member != FaultableAccesses::none) {
    // No line of the access can fault: it counts as checked at once.
    faultable_.flies(member, whole);
    faultable_.left_unit(member, now);
  }
  if (whole != Flights::none) flights_.answered(whole, now + record.latency, now);
  return flight != Flights::none && (record.flags & IssueRecord::ordered_after);
}

}  // namespace lockstep
