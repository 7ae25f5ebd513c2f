#include "models/sm/context/block_contexts.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "models/sm/context/overwrite.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

namespace {

/// Saves or restores the block's control state, apart from that of its warps.
void serialize_control(Archive& archive, ResidentBlocks& blocks, ClusterBlocks& clusters,
                       BlockPlace place, SmCycle now) {
  BlockSlot& block = blocks.block(place);
  // Flags: contexts of blocks without such state stay small.
  constexpr std::uint32_t some_wait = 1u << 31, let_go = 1u << 30, some_multiply = 1u << 29,
                          some_gave = 1u << 28, some_meet = 1u << 27;
  std::uint32_t gathering = block.gathering;
  if (!block.phase_waits.empty()) gathering |= some_wait;
  if (block.has_let_go) gathering |= let_go;
  if (!block.warpgroups.empty()) gathering |= some_multiply;
  if (block.spare_registers.changed()) gathering |= some_gave;
  if (clusters.knows_anything(place)) gathering |= some_meet;
  archive(block.alive_threads, block.warps_left, blocks.under_way().phase(place), gathering,
          block.barriers);
  block.gathering = gathering & ~(some_wait | let_go | some_multiply | some_gave | some_meet);
  block.has_let_go = (gathering & let_go) != 0;
  if ((gathering & some_wait) != 0) archive(block.phase_waits);
  if ((gathering & some_multiply) != 0) archive(block.warpgroups);
  if ((gathering & some_gave) != 0) archive(block.spare_registers);
  if ((gathering & some_meet) != 0) clusters.serialize_at(archive, place, now);
}

}  // namespace

std::vector<WarpSlot> BlockContexts::warps_in_order(const BlockSlot& block) const {
  std::vector<WarpSlot> slots(static_cast<std::size_t>(std::popcount(block.warps)));
  for_each_warp(block.warps,
                [&](WarpSlot slot) { slots[blocks_.warp(slot).warp_in_block] = slot; });
  return slots;
}

void BlockContexts::freeze(BlockPlace place, StopPlaces stops) {
  const BlockSlot& block = blocks_.block(place);
  if (stops == StopPlaces::points) return freeze_at_points(block);
  for_each_warp(block.warps, [&](WarpSlot slot) {
    if (blocks_.warp(slot).paths.finished() || front_end_.held().frozen(slot) ||
        printing_.amid(slot))
      return;
    freeze(slot);
  });
}

void BlockContexts::freeze_at_points(const BlockSlot& block) {
  HeldWarps& held = front_end_.held();
  std::uint64_t waiting = 0;
  bool others_run = false;
  for_each_warp(block.warps, [&](WarpSlot slot) {
    const Warp& warp = blocks_.warp(slot);
    if (warp.paths.finished() || held.frozen(slot)) return;
    if (printing_.amid(slot)) {
      others_run = true;
      return;
    }
    if (held.stopped(slot) || front_end_.sleeping().asleep(slot) ||
        blocks_.at_preemption_point(warp) || waits_for_squashed(slot, block))
      return freeze(slot);
    held.freeze_at_point(slot);
    if (warp.paths.runnable()) others_run = true;
    waiting |= bit_of(slot);
  });
  if (!others_run) for_each_warp(waiting, [&](WarpSlot slot) { freeze(slot); });
}

bool BlockContexts::waits_for_squashed(WarpSlot slot, const BlockSlot& block) const {
  if ((front_end_.waiting(StallCause::log_full) & bit_of(slot)) == 0) return false;
  bool all = true;
  for_each_warp(block.warps, [&](WarpSlot other) { all = all && faultable_.all_squashed(other); });
  return all;
}

void BlockContexts::thaw(BlockPlace place) {
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) { front_end_.held().thaw(slot); });
}

void BlockContexts::go_on(BlockPlace place, SmCycle now) {
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) {
    if (has_left(slot)) return;
    front_end_.held().thaw(slot);
    front_end_.look_again(slot, now);
    faultable_.go_on_after_stop(slot, now);
  });
  front_end_.wake_at(now);
}

bool BlockContexts::is_small(BlockPlace place) const {
  constexpr std::size_t most_of_warp = 8;
  const std::uint64_t warps = blocks_.block(place).warps;
  std::size_t squashed = 0;
  faultable_.for_each_squashed([&](const SquashedLanes& lanes) {
    squashed += (warps & bit_of(faultable_.warp_of(lanes.access))) != 0;
  });
  return squashed <= most_of_warp * static_cast<std::size_t>(std::popcount(warps));
}

/// Returns whether nothing of the block is in flight. Stores of warps that have left count too
/// (StoresDrainWith::grid): their acknowledgement must find the block. Local stores have no flight,
/// and nothing waits for them.
bool BlockContexts::is_quiet(BlockPlace place) const {
  const BlockSlot& block = blocks_.block(place);
  bool quiet = blocks_.under_way().stores(place) == 0 && !load_store_.queues_access_to(block.homes);
  for_each_warp(block.warps,
                [&](WarpSlot slot) { quiet = quiet && (has_left(slot) || is_quiet(slot)); });
  return quiet;
}

/// Returns whether nothing of the warp is in flight. Pending results must belong to its squashed
/// accesses, which no event will bring.
bool BlockContexts::is_quiet(WarpSlot slot) const {
  const Warp& warp = blocks_.warp(slot);
  if (blocks_.under_way().stores(slot) != 0 || printing_.amid(slot) ||
      !faultable_.all_squashed(slot) || is_named_by_events(slot))
    return false;
  if (!warp.paths.finished() && !front_end_.held().frozen(slot)) return false;
  Scoreboard pending = warp.pending;
  unsigned flights = 0;
  bool answered = true;
  faultable_.for_each_of(slot, [&](const FaultableAccess& access) {
    if (access.flight == FaultableAccess::none) return;
    ++flights;
    // Only the last check is still outstanding.
    answered &= flights_[access.flight].outstanding == 1;
    const IssueRecord& record = warp.records[access.pc];
    for (unsigned i = 0; i < record.releases; ++i) pending.clear(record.release[i]);
  });
  return answered && pending.empty() && blocks_.under_way().flights(slot) == flights &&
         (faultable_.first_of_warp(slot) != FaultableAccess::none ||
          !front_end_.held().fetch_is_off(slot));
}

bool BlockContexts::is_named_by_events(WarpSlot slot) const {
  if ((front_end_.ready_warps() & bit_of(slot)) != 0 || front_end_.held().reads(slot)) return true;
  return (front_end_.waiting(StallCause::control) & bit_of(slot)) != 0 && !is_suspended(slot) &&
         !front_end_.sleeping().asleep(slot);
}

bool BlockContexts::is_suspended(WarpSlot slot) const {
  bool suspended = false;
  faultable_.for_each_of(slot, [&](const FaultableAccess& access) {
    suspended |= access.flight != FaultableAccess::none && flights_[access.flight].acquires != 0;
  });
  return suspended;
}

BlockContext BlockContexts::take_out(BlockPlace place, SmCycle now, std::uint8_t keeps) {
  BlockSlot& block = blocks_.block(place);
  std::vector<SavedWarp> warps;
  for (const WarpSlot slot : warps_in_order(block)) warps.push_back(take_out(slot, now));
  load_store_.find_fault_waits(now);
  std::ostringstream control;
  Archive archive = Archive::saving(control);
  mbarriers_.stop_timers(place, now);
  serialize_control(archive, blocks_, clusters_, place, now);
  front_end_.end_waits_for_cluster(block.warps);
  block.phase_waits.clear();  // a time limit that expires now finds no path to wake
  for (SavedWarp& warp : warps) archive(warp);
  BlockContext context;
  write_registers(place, warps, (keeps & in_place::registers) != 0, context);
  const std::span<std::byte> shared = blocks_.shared_of(place);
  const bool keeps_shared = (keeps & in_place::shared) != 0;
  std::vector<std::byte>& kept_or_moved = keeps_shared ? context.kept.shared : context.bytes;
  kept_or_moved.insert(kept_or_moved.end(), shared.begin(), shared.end());
  overwrite(shared);
  const auto shared_bytes = static_cast<std::uint32_t>(shared.size());
  (keeps_shared ? context.kept.shared_bytes : context.parts.shared_bytes) = shared_bytes;
  if (!keeps_shared) context.parts.stated_bytes += shared_bytes;
  const std::string text = control.str();
  const auto written = std::as_bytes(std::span(text));
  context.bytes.insert(context.bytes.end(), written.begin(), written.end());
  auto& bytes = statistics_.tenant[blocks_.grid(block.grid).launch.tenant].context_parts;
  bytes[SmStatistics::shared_saved] += context.parts.shared_bytes;
  bytes[SmStatistics::kept] += context.kept.registers.size() + context.kept.shared.size();
  bytes[SmStatistics::control_saved] += written.size();
  return context;
}

void BlockContexts::count_stop(const Warp& warp) {
  auto& stops = statistics_.tenant[warp.tenant].context_stops;
  if (front_end_.held().stopped(blocks_.slot_of(warp))) {
    ++stops[SmStatistics::at_fault];
  } else if (!warp.paths.runnable()) {
    ++stops[SmStatistics::at_barrier];
  } else if (!blocks_.at_preemption_point(warp)) {
    const bool asleep = front_end_.sleeping().asleep(blocks_.slot_of(warp));
    ++stops[asleep ? SmStatistics::asleep : SmStatistics::elsewhere];
  } else {
    const isa::Instruction& point = blocks_.instruction(warp, warp.paths.pc());
    ++stops[point.category == isa::Category::barrier ? SmStatistics::at_barrier_point
                                                     : SmStatistics::at_point];
  }
}

void BlockContexts::discard(BlockPlace place, SmCycle now) {
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) { take_out(slot, now); });
  load_store_.find_fault_waits(now);
  blocks_.block(place).phase_waits.clear();
}

BlockContexts::SavedWarp BlockContexts::take_out(WarpSlot slot, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  SavedWarp saved;
  saved.paths = warp.paths;
  saved.left = has_left(slot);
  if (saved.left) return saved;
  count_stop(warp);
  saved.suspended = is_suspended(slot);
  saved.owed = mbarriers_.take_out(slot);
  if (front_end_.sleeping().asleep(slot))
    saved.asleep = std::max<std::int64_t>(1, front_end_.sleeping().until(slot) - now);
  while (faultable_.first_of_warp(slot) != FaultableAccess::none)
    saved.accesses.push_back(take_out_oldest_access(slot, now));
  front_end_.sleeping().leave(slot);
  front_end_.held().thaw(slot);
  front_end_.held().go_on(slot);
  front_end_.call_off(bit_of(slot));
  front_end_.remove(slot);
  return saved;
}

SavedAccess BlockContexts::take_out_oldest_access(WarpSlot slot, SmCycle now) {
  const std::uint16_t index = faultable_.first_of_warp(slot);
  FaultableAccess& access = faultable_[index];
  SavedAccess saved;
  saved.issued = access.issued;
  saved.pc = access.pc;
  saved.flies = access.flight != FaultableAccess::none;
  if (saved.flies) flights_.take_out(access.flight);
  if (const Access* operands = load_store_.logged_operands_of(access)) {
    saved.operands.emplace();
    saved.operands->access.take_global(*operands);
    load_store_.forget_logged(access);
  }
  saved.lanes = faultable_.take_out(index, now);
  return saved;
}

void BlockContexts::put_in(BlockPlace place, std::vector<std::byte> bytes, SmCycle now) {
  BlockSlot& block = blocks_.block(place);
  const std::span<std::byte> shared = blocks_.shared_of(place);
  const std::size_t registers = bytes_of_registers(bytes);
  if (!shared.empty()) std::memcpy(shared.data(), bytes.data() + registers, shared.size());
  const std::size_t begin = registers + shared.size();
  std::istringstream control(
      std::string(reinterpret_cast<const char*>(bytes.data()) + begin, bytes.size() - begin));
  Archive archive = Archive::restoring(control);
  clusters_[place] = {};
  serialize_control(archive, blocks_, clusters_, place, now);
  const std::vector<WarpSlot> slots = warps_in_order(block);
  std::vector<SavedWarp> warps(slots.size());
  for (SavedWarp& warp : warps) archive(warp);
  read_registers(place, warps, bytes);
  for (std::size_t w = 0; w < warps.size(); ++w) put_in(slots[w], warps[w]);
  mbarriers_.start_timers(place, now);
  for (std::size_t w = 0; w < warps.size(); ++w) {
    if (warps[w].left) continue;
    go_on(slots[w], warps[w], now);
    mbarriers_.put_in(slots[w], std::move(warps[w].owed), now);
    faultable_.go_on_after_return(slots[w], now);
  }
  load_store_.find_fault_waits(now);
  clusters_.come_back(place, now);
}

/// Lets the warp go on. A warp that waits for an acquire goes on when that commits, so that the
/// event which would resume it has no effect.
void BlockContexts::go_on(WarpSlot slot, const SavedWarp& saved, SmCycle now) {
  const SmCycle when = now + std::max<std::int64_t>(1, saved.asleep);
  front_end_.add(slot, when);
  if (saved.asleep > 0 || saved.suspended) front_end_.sleeping().begin(slot, when);
  if (saved.suspended) front_end_.sleeping().leave(slot);
}

void BlockContexts::put_in(WarpSlot slot, SavedWarp& saved) {
  blocks_.warp(slot).paths = saved.paths;
  for (SavedAccess& access : saved.accesses) put_in_access(slot, access);
}

std::uint16_t BlockContexts::begin_flight(WarpSlot slot, std::uint32_t pc) {
  const Warp& warp = blocks_.warp(slot);
  const IssueRecord& record = warp.records[pc];
  const bool copies = blocks_.instruction(warp, pc).category == isa::Category::copy;
  return copies ? flights_.begin_copy(slot, pc, record, true) : flights_.begin(slot, pc, record);
}

void BlockContexts::put_in_access(WarpSlot slot, SavedAccess& saved) {
  const std::uint16_t index =
      faultable_.put_in(slot, saved.pc, saved.issued, std::move(saved.lanes));
  FaultableAccess& access = faultable_[index];
  if (saved.flies) access.flight = begin_flight(slot, saved.pc);
  if (!saved.operands) return;
  Access& operands = saved.operands->access;
  operands.warp = static_cast<std::uint8_t>(slot.value());
  operands.member = index;
  operands.flight = access.flight;
  load_store_.log_operands(access, operands);
}

}  // namespace lockstep
