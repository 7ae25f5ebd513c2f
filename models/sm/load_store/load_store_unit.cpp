/// The load-store unit: memory instructions between issue and their last translation check.
///
/// An instruction's lanes are grouped by line when it issues; the groups are looked up in order, a
/// few per cycle, one instruction after the other.  When a group finds no room (miss entry, line,
/// request queue) everything behind it waits for an answer.
/// Source: gpu-parameters.md, sections 7 and 10 (one access per cycle to the L1 structures).
///
/// Simplified: the pipeline in front of the tags is a constant of latencies and departures, so that
/// a group is looked up in the cycle in which its instruction issues if nothing is before it.
#include <utility>

#include "models/sm/access/coalescer.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;
using isa::Space;

namespace {

constexpr std::uint16_t no_flight = SlotPool<Flight>::none;

Access::Kind kind_of(Category category) {
  switch (category) {
    case Category::load:
      return Access::Kind::load;
    case Category::store:
      return Access::Kind::store;
    case Category::prefetch:
      return Access::Kind::prefetch;
    default:
      return Access::Kind::atomic;
  }
}

constexpr bool in_window(std::uint64_t address, std::uint64_t base, std::uint64_t bytes) {
  return address - base < bytes;
}

/// Lanes whose generic address lies in the window.
std::uint32_t lanes_in(const LaneAddresses& address, std::uint32_t active, std::uint64_t base,
                       std::uint64_t bytes) {
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    lanes |= std::uint32_t{in_window(address[lane], base, bytes)} << lane;
  return lanes & active;
}

/// Shared addresses from 64-bit registers; what does not fit is outside of every block.
std::array<std::uint32_t, 32> narrow(const LaneAddresses& address) {
  std::array<std::uint32_t, 32> result;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    result[lane] = static_cast<std::uint32_t>(std::min<std::uint64_t>(address[lane], 0x7fffffff));
  return result;
}

}  // namespace

/// All lanes of a load or store at consecutive global addresses, as most are: nothing is to be
/// found out lane by lane.
bool SmState::issue_consecutive(unsigned slot, const Instruction& instruction,
                                const IssueRecord& record, std::uint32_t active, std::int64_t now) {
  const Space space = instruction.memory.space;
  if (active != 0xffffffff || !(instruction.flags & isa::flag_address_wide) ||
      !instruction.source[0].valid() || (space != Space::global && space != Space::generic) ||
      (instruction.category != Category::load && instruction.category != Category::store))
    return false;
  const std::uint32_t* row = context_of(warps[slot]).row(instruction.source[0]);
  const unsigned bytes = lane_bytes(instruction.memory);
  std::uint64_t base;
  std::memcpy(&base, row, sizeof base);
  base += static_cast<std::uint64_t>(std::int64_t{instruction.offset});
  // Other spaces lie below the first buffer.
  if ((base & (bytes - 1)) != 0 || base < isa::first_global_address || base >> 63 != 0 ||
      !are_consecutive(row, bytes))
    return false;
  Access& access = begin_access(slot, instruction, record, active, false);
  coalesce_consecutive(access, base, bytes);
  enter_access(access, instruction, record, no_flight, now);
  return true;
}

bool SmState::issue_memory(unsigned slot, const Instruction& instruction, const IssueRecord& record,
                           std::uint32_t active, std::int64_t now) {
  if (record.flags & IssueRecord::computes_address) {
    const GridSlot& grid = grids[warps[slot].grid];
    isa::WarpContext context = grid.context_of(warps[slot].registers, scratch_rows);
    context.active = active;
    const Instruction& computation = grid.instructions[instruction.target];
    computation.execute(computation, context);
  }
  const bool acquires = (record.flags & IssueRecord::ordered_after) != 0;
  if (!acquires && issue_consecutive(slot, instruction, record, active, now)) return false;
  Warp& warp = warps[slot];
  LaneAddresses address;
  lane_addresses(instruction, context_of(warp), active, address);
  const unsigned bytes = lane_bytes(instruction.memory);
  if (bytes > 1 && instruction.category != Category::prefetch) {
    std::uint64_t low = 0;
    for (std::uint64_t a : address) low |= a;
    if ((low & (bytes - 1)) != 0) [[unlikely]]
      misaligned(warp, address, active, bytes);
  }
  Space space = instruction.memory.space;
  if (space == Space::generic) {
    // All windows lie below the first buffer.
    bool in_windows = false;
    for (std::uint64_t a : address) in_windows |= a < isa::first_global_address;
    if (in_windows) return issue_generic(slot, instruction, record, active, address, now);
    space = Space::global;
  }
  switch (space) {
    case Space::shared:
      issue_shared(slot, instruction, record, active, narrow(address).data(), 0, true, now);
      return false;
    case Space::constant:
    case Space::parameter:
      issue_constant(slot, instruction, record, active, address, true, now);
      return false;
    default: {
      const std::uint16_t flight = issue_lines(slot, instruction, record, active, address,
                                               space == Space::local, no_flight, now);
      return flight != no_flight && acquires;
    }
  }
}

bool SmState::issue_generic(unsigned slot, const Instruction& instruction,
                            const IssueRecord& record, std::uint32_t active,
                            const LaneAddresses& generic, std::int64_t now) {
  const auto relative = [&](std::uint32_t lanes, std::uint64_t base) {
    LaneAddresses address;
    const std::uint64_t first = generic[static_cast<unsigned>(std::countr_zero(lanes))] - base;
    for (unsigned lane = 0; lane < isa::warp_size; ++lane)
      address[lane] = (lanes >> lane) & 1 ? generic[lane] - base : first;
    return address;
  };
  const std::uint32_t in_shared =
      lanes_in(generic, active, isa::shared_window_base, isa::shared_window_bytes);
  const std::uint32_t in_local =
      lanes_in(generic, active, isa::local_window_base, isa::local_window_bytes);
  const std::uint32_t in_constant = lanes_in(
      generic, active, isa::constant_window_base,
      isa::parameter_window_base + isa::parameter_window_bytes - isa::constant_window_base);
  const std::uint32_t in_global = active & ~in_shared & ~in_local & ~in_constant;
  if (in_local != 0 && instruction.category == Category::atomic) [[unlikely]]
    user_error(warps[slot], warps[slot].paths.pc(),
               static_cast<unsigned>(std::countr_zero(in_local)), "atomic on local memory",
               "only global and shared memory have atomics");
  const bool mixed = in_global != 0 || in_local != 0 || (in_shared != 0 && in_constant != 0);
  if (in_local != 0)
    check_local(warps[slot], relative(in_local, isa::local_window_base), in_local,
                lane_bytes(instruction.memory));
  if (in_shared != 0)
    issue_shared(slot, instruction, record, in_shared,
                 narrow(relative(in_shared, isa::shared_window_base)).data(), 0, !mixed, now);
  if (in_constant != 0)
    issue_constant(slot, instruction, record, in_constant, relative(in_constant, 0), !mixed, now);
  // Destinations of a mixed access commit when the slower part has its answers.
  std::uint16_t flight = no_flight;
  if (mixed && record.releases > 0) flight = begin_flight(slot, warps[slot].paths.pc(), record);
  const std::uint16_t whole = flight;
  if (in_local != 0)
    flight = issue_lines(slot, instruction, record, in_local,
                         relative(in_local, isa::local_window_base), true, whole, now);
  if (in_global != 0)
    flight = issue_lines(slot, instruction, record, in_global, relative(in_global, 0), false, whole,
                         now);
  if (whole != no_flight) {
    flights[whole].ready = std::max(flights[whole].ready, now + record.latency);
    answered(whole, 0, now);
  }
  return flight != no_flight && (record.flags & IssueRecord::ordered_after);
}

std::uint16_t SmState::issue_lines(unsigned slot, const Instruction& instruction,
                                   const IssueRecord& record, std::uint32_t active,
                                   const LaneAddresses& address, bool local, std::uint16_t flight,
                                   std::int64_t now) {
  if (local && instruction.category == Category::prefetch) return no_flight;
  Access& access = begin_access(slot, instruction, record, active, local);
  if (local) {
    start_local(access, warps[slot], address);
  } else {
    coalesce(access, address, access.kind == Access::Kind::prefetch ? 1 : access.stride);
  }
  return enter_access(access, instruction, record, flight, now);
}

Access& SmState::begin_access(unsigned slot, const Instruction& instruction,
                              const IssueRecord& record, std::uint32_t active, bool local) {
  const Warp& warp = warps[slot];
  const Access::Kind kind = kind_of(instruction.category);
  ++statistics.tenant[warp.tenant].memory_instructions;
  Access& access = queue[queue_place(queue_count)];
  access.kind = kind;
  access.local = local;
  access.bypass = !local && kind != Access::Kind::store &&
                  ((record.flags & IssueRecord::bypasses_l1) || !parameters.l1.caches_global_loads);
  access.warp = static_cast<std::uint8_t>(slot);
  access.pc = warp.paths.pc();
  access.phase = blocks[warp.block].phase;
  access.active = active;
  access.stride = static_cast<std::uint8_t>(lane_bytes(instruction.memory));
  access.parked = TranslationUnit::none;
  access.part = 0;
  access.parts = 1;
  return access;
}

std::uint16_t SmState::enter_access(Access& access, const Instruction& instruction,
                                    const IssueRecord& record, std::uint16_t flight,
                                    std::int64_t now) {
  const unsigned slot = access.warp;
  Warp& warp = warps[slot];
  const Access::Kind kind = access.kind;
  if (kind == Access::Kind::store) {
    gather_store_data(instruction, context_of(warp), access.active, access.data.data());
  } else if (kind == Access::Kind::atomic) {
    if (access.stride > 8) halve_large_groups(access);
    gather_atomic_operands(instruction, context_of(warp), access.active, access.data.data());
  }
  if (kind == Access::Kind::atomic || (kind == Access::Kind::store && !access.local)) {
    warp.stores = static_cast<std::uint16_t>(warp.stores + access.groups);
    blocks[warp.block].fresh_stores += access.groups;
  }
  const bool answers = kind == Access::Kind::load || kind == Access::Kind::prefetch ||
                       (kind == Access::Kind::atomic && instruction.memory.returns);
  if (flight != no_flight) {
    ++flights[flight].outstanding;
  } else if (answers) {
    flight = begin_flight(slot, access.pc, record);
  }
  access.flight = flight;
  if (++queue_count >= parameters.memory_queue) memory_open = 0;
  if (queue_count == 1 && !queue_stalled) pump_queue(now);
  return flight;
}

std::uint16_t SmState::begin_flight(unsigned slot, std::uint32_t pc, const IssueRecord& record) {
  Warp& warp = warps[slot];
  const std::uint16_t index = flights.take();
  Flight& flight = flights[index];
  flight.ready = 0;
  flight.pc = pc;
  flight.warp = static_cast<std::uint8_t>(slot);
  flight.acquires = (record.flags & IssueRecord::ordered_after) != 0;
  // The one who looks up the groups counts as well, until the last of them.
  flight.outstanding = 1;
  ++warp.flights;
  for (unsigned i = 0; i < record.releases; ++i) {
    warp.pending.mark(record.release[i]);
    warp.loads.mark(record.release[i]);
  }
  return index;
}

void SmState::pump_queue(std::int64_t now) {
  if (lookup_cycle != now) {
    lookup_cycle = now;
    lookups = 0;
  }
  while (!translation.draining.empty() && lookups < parameters.l1.lines_per_cycle) {
    if (!drain_group(now)) return stall_queue(false, now);
    ++lookups;
  }
  const bool blocked = translation.faulted() != 0 && setup.replay == ReplayMode::block_tlb;
  while (queue_count > 0 && lookups < parameters.l1.lines_per_cycle) {
    Access& access = queue[queue_head];
    if (blocked && !access.local) return stall_queue(true, now);
    if (!process_group(access, now)) return stall_queue(std::exchange(no_page_entry, false), now);
    ++lookups;
    if (access.next < access.groups || next_part(access)) continue;
    if (access.parked != TranslationUnit::none) translation.release(access.parked);
    if (access.flight != no_flight) answered(access.flight, 0, now);
    --queue_count;
    // An empty queue begins anew where it is warm in this computer's caches.
    queue_head = queue_count == 0 ? 0 : queue_place(1);
    if (queue_count < parameters.memory_queue) update_memory_gate(now);
  }
  queue_wake = queue_count > 0 || !translation.draining.empty() ? now + 1 : no_cycle;
}

void SmState::stall_queue(bool by_translation, std::int64_t now) {
  if (!queue_stalled) stalled_since = now;
  queue_stalled = true;
  stalled_by_translation = by_translation;
  queue_wake = no_cycle;
}

void SmState::wake_queue(std::int64_t now) {
  if (queue_stalled) {
    const auto cycles = static_cast<std::uint64_t>(now - stalled_since);
    if (stalled_by_translation) {
      statistics.tenant[warps[queue[queue_head].warp].tenant].tlb_stall_cycles += cycles;
    } else {
      statistics.l1_reservation_stall_cycles += cycles;
    }
    queue_stalled = false;
  }
  queue_wake = now;
}

void SmState::misaligned(const Warp& warp, const LaneAddresses& address, std::uint32_t active,
                         unsigned bytes) const {
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if (((active >> lane) & 1) && (address[lane] & (bytes - 1)) != 0)
      user_error(warp, warp.paths.pc(), lane,
                 "misaligned access of " + std::to_string(bytes) + " bytes at " +
                     hexadecimal(address[lane]),
                 "addresses must be multiples of the access size");
  internal_error(__FILE__, __LINE__, "misaligned", "no lane is misaligned");
}

}  // namespace lockstep
