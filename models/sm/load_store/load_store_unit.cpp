#include "models/sm/load_store/load_store_unit.hpp"

#include <bit>
#include <cstring>

#include "models/isa/l2_hint.hpp"
#include "models/sm/access/bank_conflicts.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/access/tag_banks.hpp"
#include "models/sm/load_store/local_memory.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;
using isa::Space;

LoadStoreUnit::LoadStoreUnit(const SmContext& sm, FrontEnd& front_end, FaultableAccesses& faultable,
                             Translation& translation, LineAccess& lines, Flights& flights)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      mistakes_(sm.mistakes),
      front_end_(front_end),
      gate_(front_end.memory_gate()),
      faultable_(faultable),
      translation_(translation),
      lines_(lines),
      flights_(flights) {
  const SmParameters& p = sm.constants.parameters;
  // A cycle's issues may overshoot the limit that the gate watches.
  hot_.queue.resize(p.memory_queue + 2 * p.schedulers * p.issue_width + 2);
}

static Access::Kind access_kind(Category category) {
  switch (category) {
    case Category::load:
      return Access::Kind::load;
    case Category::store:
      return Access::Kind::store;
    case Category::prefetch:
      return Access::Kind::prefetch;
    case Category::copy:
      return Access::Kind::copy;
    default:
      return Access::Kind::atomic;
  }
}

/// Returns the words of messages before an address.
static std::string access_word(Access::Kind kind) {
  return kind == Access::Kind::load        ? "load from "
         : kind == Access::Kind::copy      ? "asynchronous copy from "
         : kind == Access::Kind::bulk_load ? "bulk copy from "
         : kind == Access::Kind::store     ? "store to "
                                           : "atomic at ";
}

static LaneAddresses consecutive(std::uint64_t base, unsigned bytes) {
  LaneAddresses address;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) address[lane] = base + lane * bytes;
  return address;
}

bool LoadStoreUnit::issue_consecutive(WarpSlot slot, const Instruction& instruction,
                                      const IssueRecord& record, std::uint32_t active,
                                      std::uint16_t member, SmCycle now) {
  const Space space = instruction.memory.space;
  if (active != 0xffffffff || !(instruction.flags & isa::flag_address_wide) ||
      !instruction.source[0].valid() || (space != Space::global && space != Space::generic) ||
      (instruction.category != Category::load && instruction.category != Category::store))
    return false;
  const std::uint32_t* row = blocks_.row_of(blocks_.warp(slot), instruction.source[0]);
  const unsigned bytes = lane_bytes(instruction.memory);
  std::uint64_t base;
  std::memcpy(&base, row, sizeof base);
  base += static_cast<std::uint64_t>(std::int64_t{instruction.offset});
  // Other spaces lie below the first buffer.
  if ((base & (bytes - 1)) != 0 || base < isa::first_global_address || base >> 63 != 0 ||
      !are_consecutive(row, bytes))
    return false;
  const Warp& warp = blocks_.warp(slot);
  if (!blocks_.grid_of(warp).holds(warp.paths.pc(), base, isa::warp_size * bytes)) [[unlikely]]
    require_in_buffers(warp, instruction, active, consecutive(base, bytes));
  Access& access = begin_access(slot, instruction, record, active, false, member);
  coalesce_consecutive(access, base, bytes);
  enter_access(access, instruction, record, Flights::none, now);
  return true;
}

std::uint16_t LoadStoreUnit::issue_lines(WarpSlot slot, const Instruction& instruction,
                                         const IssueRecord& record, std::uint32_t active,
                                         const LaneAddresses& address, bool local,
                                         std::uint16_t flight, std::uint16_t member, SmCycle now) {
  if (instruction.category == Category::prefetch &&
      (local ||
       ((instruction.detail & isa::l2_hint_only) != 0 && !constants_.setup.marks_priorities)))
    return Flights::none;
  Access& access = begin_access(slot, instruction, record, active, local, member);
  if (local) {
    check_local(blocks_, mistakes_, blocks_.warp(slot), address, active, access.stride);
    start_local(access, constants_.local.first_line_of(blocks_.home_of(slot)), address);
  } else {
    const bool prefetches = access.kind == Access::Kind::prefetch;
    coalesce(access, address, prefetches ? 1 : access.stride);
    if (prefetches) access.set_hint(instruction.detail);
    if (!prefetches && !is_in_buffers(access)) [[unlikely]]
      require_in_buffers(blocks_.warp(slot), instruction, active, address);
  }
  return enter_access(access, instruction, record, flight, now);
}

inline bool LoadStoreUnit::is_in_buffers(const Access& access) {
  GridSlot& grid = blocks_.grid(access.grid);
  if (access.contiguous) {
    const LineGroup& first = access.group[0];
    return grid.holds(access.pc, first.line + first.first_offset,
                      static_cast<unsigned>(std::popcount(access.active)) * access.stride);
  }
  for (unsigned g = 0; g < access.groups; ++g) {
    const unsigned sectors = access.group[g].sectors;
    const auto first = static_cast<unsigned>(std::countr_zero(sectors));
    const std::uint64_t bytes =
        (static_cast<unsigned>(std::bit_width(sectors)) - first) * std::uint64_t{sector_bytes};
    if (!grid.holds(access.pc, access.group[g].line + first * sector_bytes, bytes)) return false;
  }
  return true;
}

void LoadStoreUnit::require_in_buffers(const Warp& warp, const Instruction& instruction,
                                       std::uint32_t active, const LaneAddresses& address,
                                       const CopyTarget* copy) {
  GridSlot& grid = blocks_.grid_of(warp);
  const std::uint32_t pc = warp.paths.pc();
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned bytes = copy != nullptr ? copy->bytes[lane] : lane_bytes(instruction.memory);
    if (const auto outside = grid.bounds.find(
            pc, address[lane], bytes, grid.issue->global_use.addresses[pc], grid.parameters))
      mistakes_.outside(warp, pc, lane, access_word(access_kind(instruction.category)), bytes,
                        address[lane], *outside);
  }
}

void LoadStoreUnit::issue_copy(WarpSlot slot, const Instruction& instruction,
                               const IssueRecord& record, std::uint32_t lanes,
                               const LaneAddresses& address, const CopyTarget& target,
                               std::uint16_t member, SmCycle now) {
  Access& access = begin_access(slot, instruction, record, lanes, false, member);
  coalesce(access, address, access.stride);
  if (!is_in_buffers(access)) [[unlikely]]
    require_in_buffers(blocks_.warp(slot), instruction, lanes, address, &target);
  access.set(target);
  std::uint64_t bytes = 0;
  for (const std::uint8_t of_lane : target.bytes) bytes += of_lane;
  blocks_.counts(access.grid).async_copy_bytes += bytes;
  enter_access(access, instruction, record, Flights::none, now);
}

Access& LoadStoreUnit::begin_access(WarpSlot slot, const Instruction& instruction,
                                    const IssueRecord& record, std::uint32_t active, bool local,
                                    std::uint16_t member) {
  const Warp& warp = blocks_.warp(slot);
  const Access::Kind kind = access_kind(instruction.category);
  Access& access = hot_.queue[place(hot_.count)];
  access.kind = kind;
  access.local = local;
  access.bypass =
      !local && kind != Access::Kind::store &&
      ((record.flags & IssueRecord::bypasses_l1) || !constants_.parameters.l1.caches_global_loads);
  access.warp = static_cast<std::uint8_t>(slot.value());
  access.tenant = warp.tenant;
  access.grid = warp.grid;
  access.pc = warp.paths.pc();
  access.phase = blocks_.under_way().phase(BlockPlace(warp.block));
  access.active = active;
  access.stride = static_cast<std::uint8_t>(lane_bytes(instruction.memory));
  access.parked = ParkedPages::none;
  access.member = member;
  access.part = 0;
  access.parts = 1;
  return access;
}

std::uint16_t LoadStoreUnit::enter_access(Access& access, const Instruction& instruction,
                                          const IssueRecord& record, std::uint16_t flight,
                                          SmCycle now) {
  const Access::Kind kind = access.kind;
  ++statistics_.tenant[access.tenant].memory_instructions;
  gather_data(access, instruction);
  const bool answers = kind == Access::Kind::load || kind == Access::Kind::prefetch ||
                       kind == Access::Kind::copy ||
                       (kind == Access::Kind::atomic && instruction.memory.returns);
  if (flight != Flights::none) {
    flights_.expect(flight);
  } else if (answers) {
    const WarpSlot slot(access.warp);
    flight = kind == Access::Kind::copy ? flights_.begin_copy(slot, access.pc, record)
                                        : flights_.begin(slot, access.pc, record);
  }
  access.flight = flight;
  if (access.member != FaultableAccesses::none) [[unlikely]]
    faultable_.flies(access.member, flight);
  enter_queue(access, now);
  return flight;
}

void LoadStoreUnit::gather_data(Access& access, const Instruction& instruction) {
  const isa::WarpContext context = blocks_.context_of(blocks_.warp(WarpSlot(access.warp)));
  if (access.kind == Access::Kind::store) {
    gather_store_data(instruction, context, access.active, access.data.data());
  } else if (access.kind == Access::Kind::atomic) {
    if (access.stride > 8) halve_large_groups(access);
    gather_atomic_operands(instruction, context, access.active, access.data.data());
  }
}

void LoadStoreUnit::enter_queue(Access& access, SmCycle now) {
  if (access.kind == Access::Kind::atomic ||
      (access.kind == Access::Kind::store && !access.local)) {
    const WarpSlot slot(access.warp);
    blocks_.under_way().stores_begin(slot, BlockPlace(blocks_.warp(slot).block), access.groups);
  }
  gate_.entered();
  if (++hot_.count == 1 && !hot_.stalled) look_up_lines(now);
}

void LoadStoreUnit::look_up_lines(SmCycle now) {
  const std::uint32_t most = constants_.parameters.l1.lines_per_cycle;
  if (hot_.lookup_cycle != now) {
    // A line with more look-ups than fit in a cycle takes the rest from the next one.
    const std::int64_t since = std::int64_t{most} * (now - hot_.lookup_cycle);
    hot_.lookups -= static_cast<std::uint32_t>(std::min<std::int64_t>(hot_.lookups, since));
    hot_.lookup_cycle = now;
  }
  while (translation_.has_lines_to_leave() && hot_.lookups < most) {
    if (!look_up_parked_line(now)) return stall(false, now);
    ++hot_.lookups;
  }
  const bool blocked = translation_.blocked();
  while (hot_.count > 0 && hot_.lookups < most) {
    Access& access = hot_.queue[hot_.head];
    if (blocked && !access.local) return stall(true, now);
    if (access.next == 0) {
      // The tags of an instruction are compared while the banks still serve the instruction before.
      if (now + 1 < hot_.banks_free || now < hot_.tags_free) break;
      begin_lookups(access, now);
    } else if (constants_.parameters.l1.tag_banks && access.next >= lines_compared(access, now)) {
      break;
    }
    const LineGroup& line = access.group[access.next];
    if (const Progress progress = look_up_line(access, now); progress != Progress::done)
      return stall(progress == Progress::no_translation, now);
    hot_.lookups += lookups_of(line);
    if (access.next < access.groups) continue;
    if (constants_.parameters.l1.banked)
      hot_.banks_free =
          std::max(std::max(hot_.banks_free, hot_.first_lookup) + bank_cycles(access), now + 1);
    if (++access.part < access.parts) {
      coalesce_local(access, constants_.local.first_line_of(home_of(access)));
    } else {
      leave_queue(access, now);
    }
  }
  hot_.wake = no_cycle;
  if (hot_.count > 0) hot_.wake = std::max(now + 1, hot_.banks_free - 1);
  if (hot_.count > 0 && hot_.queue[hot_.head].next == 0)
    hot_.wake = std::max(hot_.wake, hot_.tags_free);
  if (translation_.has_lines_to_leave()) hot_.wake = now + 1;
}

bool LoadStoreUnit::fetches_texels(const Access& access) const {
  return access.kind == Access::Kind::load &&
         blocks_.grid(access.grid).instructions[access.pc].memory.cache ==
             isa::CacheOperator::texel;
}

inline void LoadStoreUnit::begin_lookups(const Access& access, SmCycle now) {
  hot_.first_lookup = now;
  if (!constants_.parameters.l1.tag_banks) return;
  const SmL1Parameters& l1 = constants_.parameters.l1;
  const std::uint32_t of_texels = l1.texture_lines_per_cycle;
  hot_.tag_cycles = of_texels != 0 && fetches_texels(access)
                        ? (access.groups + of_texels - 1) / of_texels
                        : most_lines_of_a_tag_bank(access, l1.lines_per_cycle);
  hot_.tags_free = now + hot_.tag_cycles;
}

/// Returns the number of look-ups of a line. Lanes go in groups of eight: each group compares the
/// tags of the lines that it touches (Accel-Sim, section IV: sub-warps of 8 threads).
inline std::uint32_t LoadStoreUnit::lookups_of(const LineGroup& line) const {
  if (!constants_.parameters.l1.banked || constants_.parameters.l1.tag_banks) return 1;
  std::uint32_t lookups = 0;
  for (std::uint32_t lanes = line.lanes; lanes != 0; lanes >>= 8) lookups += (lanes & 0xff) != 0;
  return lookups;
}

/// Returns the cycles of the banks; atomics pass L1 line by line.
inline std::int64_t LoadStoreUnit::bank_cycles(const Access& access) {
  return access.kind == Access::Kind::atomic || access.local ? access.groups
                                                             : most_words_of_a_bank(access);
}

inline LoadStoreUnit::Progress LoadStoreUnit::look_up_line(Access& access, SmCycle now) {
  const unsigned group = access.next;
  if (access.local) {
    if (!lines_.process(access, group, PhysicalAddress(access.group[group].line), false, now))
      return Progress::no_room;
    ++access.next;
    return Progress::done;
  }
  if (access.member != FaultableAccesses::none && squash_behind_older(access, now)) [[unlikely]] {
    ++access.next;
    return Progress::done;
  }
  const VirtualAddress line(access.group[group].line);
  SmCycle leaves = now;
  if (!translation_.find(TenantId(access.tenant), line, access.writes())) [[unlikely]] {
    Translation::Lookup lookup = translation_.look_up(access, group, now);
    if (lookup == Translation::Lookup::found_behind) {
      leaves = now + constants_.setup.vm.gpc_tlb.latency.count();
      lookup = Translation::Lookup::found;
    }
    if (lookup == Translation::Lookup::wait) return Progress::no_translation;
    if (lookup == Translation::Lookup::refused) squashed(access, group, now);
    if (lookup != Translation::Lookup::found) {
      ++access.next;
      return Progress::done;
    }
  }
  if (!lines_.process(access, group, translation_.physical(line), translation_.remote(), leaves))
    return Progress::no_room;
  ++blocks_.counts(access.grid).l1_tlb_hits;
  ++access.next;
  return Progress::done;
}

bool LoadStoreUnit::look_up_parked_line(SmCycle now) {
  const Translation::Line line = translation_.next_line(now);
  if (line.access == nullptr) return true;
  if (!lines_.process(*line.access, line.group, line.physical, line.remote, now)) return false;
  const std::uint16_t flight = line.access->flight, member = line.access->member;
  const WarpSlot warp(line.access->warp);
  if (translation_.line_left(now)) last_check_passed(flight, member, now);
  front_end_.request_answered(warp, now);
  return true;
}

inline void LoadStoreUnit::leave_queue(const Access& access, SmCycle now) {
  if (access.parked == ParkedPages::none || translation_.release(access.parked))
    last_check_passed(access.flight, access.member, now);
  --hot_.count;
  // An empty queue starts again at the place that is warm in this computer's caches.
  hot_.head = hot_.count == 0 ? 0 : place(1);
  gate_.left(now);
  if (access.writes()) front_end_.request_answered(WarpSlot(access.warp), now);
}

void LoadStoreUnit::stall(bool by_translation, SmCycle now) {
  if (!hot_.stalled) hot_.stalled_since = now;
  hot_.stalled = true;
  hot_.stalled_by_translation = by_translation;
  hot_.wake = no_cycle;
}

void LoadStoreUnit::retry(SmCycle now) {
  if (hot_.stalled) {
    const auto cycles = static_cast<std::uint64_t>(now - hot_.stalled_since);
    if (hot_.stalled_by_translation) {
      statistics_.tenant[hot_.queue[hot_.head].tenant].tlb_stall_cycles += cycles;
    } else {
      statistics_.l1_reservation_stall_cycles += cycles;
    }
    hot_.stalled = false;
  }
  hot_.wake = now;
}

bool LoadStoreUnit::queues_access_to(const std::vector<LocalHome>& homes) const {
  for (std::uint32_t i = 0; i < hot_.count; ++i) {
    const Access& access = hot_.queue[place(i)];
    if (access.local && std::find(homes.begin(), homes.end(), home_of(access)) != homes.end())
      return true;
  }
  return false;
}

void LoadStoreUnit::drop_tenant(TenantId tenant, SmCycle now) {
  const std::uint32_t count = hot_.count;
  hot_.count = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Access& access = hot_.queue[place(i)];
    if (access.tenant != tenant.value()) {
      hot_.queue[place(hot_.count++)] = access;
      continue;
    }
    forget_lines(access, access.groups - access.next);
    if (access.parked == ParkedPages::none || translation_.release(access.parked))
      last_check_passed(access.flight, access.member, now);
    gate_.left(now);
  }
  translation_.drop_tenant(
      tenant, [&](const Access& access) { forget_lines(access, 1); }, now);
  faultable_.drop_tenant(
      tenant,
      [&](FaultableAccess& access) {
        forget_logged(access);
        if (access.flight != Flights::none) flights_.answered(access.flight, SmCycle{}, now);
      },
      now);
  if (flights_.bulk_lines()) flights_.bulk_lines()->drop_tenant(tenant, now);
  translation_.find_fault_waits(now);
}

void LoadStoreUnit::forget_lines(const Access& access, unsigned count) {
  if (access.local || !access.writes()) return;
  const WarpSlot slot(access.warp);
  blocks_.under_way().stores_are_dropped(slot, BlockPlace(blocks_.warp(slot).block), access.phase,
                                         count);
}

void LoadStoreUnit::violated(const Access& access, unsigned group, SmCycle now) {
  const Warp& warp = blocks_.warp(WarpSlot(access.warp));
  const LineGroup& line = access.group[group];
  const std::uint16_t copy = bulk_copy_of(access);
  const unsigned lane = copy != BulkLines::none
                            ? flights_.bulk_lines()->lane(copy)
                            : static_cast<unsigned>(std::countr_zero(line.lanes));
  mistakes_.report(
      TenantId(access.tenant),
      mistakes_.by(warp, access.pc, lane,
                   access_word(access.kind) + hexadecimal(line.line + line.first_offset) +
                       ", which is outside of every buffer",
                   "an index runs over a buffer, or the buffer was freed"),
      now);
}

void LoadStoreUnit::warm_hot() const {
  warm(&hot_, sizeof hot_);
  warm(&hot_.queue[place(hot_.count)], offsetof(Access, group) + sizeof(LineGroup));
  flights_.warm_hot();
}

void LoadStoreUnit::serialize(Archive& archive) {
  archive.section("sm/load_store", 7);
  archive(hot_.head, hot_.count, hot_.wake, hot_.lookup_cycle, hot_.lookups, hot_.stalled,
          hot_.stalled_by_translation, hot_.stalled_since, hot_.banks_free, hot_.first_lookup,
          hot_.tags_free, hot_.tag_cycles);
  for (std::uint32_t i = 0; i < hot_.count; ++i) archive(hot_.queue[place(i)]);
  archive(log_);
}

}  // namespace lockstep
