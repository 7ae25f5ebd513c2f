#include "models/sm/turnover/local_scheduler.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/sm/turnover/squashed_pages.hpp"

namespace lockstep {

using State = BlockInMemory::State;

LocalScheduler::LocalScheduler(const SmContext& sm, const BlockSwitching& policy,
                               const Parts& parts)
    : selected_(sm.constants.blocks_leave()),
      sm_(sm),
      policy_(policy),
      parts_(parts),
      exchange_(sm.constants, sm.blocks, sm.ports, parts.l1, parts.load_store, parts.engine,
                blocks_),
      departures_(sm, parts.clusters),
      extra_(policy.extra_blocks()),
      max_wait_(policy.max_wait() == Time::never()
                    ? no_cycle
                    : sm.constants.cycle_at_or_after(policy.max_wait())) {
  const ContextArea& area = sm.constants.setup.contexts;
  for (std::uint32_t i = area.places; i > 0; --i) free_numbers_.push_back(area.first_place + i - 1);
}

bool LocalScheduler::page_came(TlbKey key, SmCycle now) {
  const auto waited = [&](BlockInMemory& block) { return block.page_came(key, now); };
  return std::count_if(blocks_.begin(), blocks_.end(), waited) > 0;
}

void LocalScheduler::stop(std::uint8_t grid, std::span<const BlockCommand> commands, SmCycle now) {
  for (BlockInMemory& block : blocks_)
    if (block.grid == grid) block.sent = false;
  for (Mask left = may_leave(true); left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    const BlockSlot& block = sm_.blocks.block(place);
    if (block.grid != grid) continue;
    const auto command = std::find_if(commands.begin(), commands.end(), [&](const auto& other) {
      return other.block == block.index;
    });
    if (command != commands.end())
      make_room(place, command->technique, now, command->keeps);
    else
      make_room(place, sm_.blocks.grid(grid).makes_room, now);
  }
}

void LocalScheduler::make_room(BlockPlace place, Technique technique, SmCycle now,
                               std::uint8_t keeps) {
  if (departures_.concerns(place)) {
    if (technique == Technique::save) technique = departures_.otherwise(place);
    if (technique != Technique::drain) departures_.ask(place, technique, now);
    return;
  }
  if (technique == Technique::flush && !sm_.blocks.block(place).progress.idempotent)
    technique = sm_.constants.setup.contexts.places > 0 ? Technique::save : Technique::drain;
  if (technique == Technique::drain) return;
  if (technique == Technique::save && sm_.constants.setup.contexts.stops == StopPlaces::points)
    to_points_ |= bit_of(place);
  leave(place, technique, now);
  keeps_[place.value()] = keeps;
}

void LocalScheduler::look(std::size_t staged, SmCycle now) {
  if (exchange_.owes_homes()) exchange_.return_homes(now);
  end_stays(now);
  if (parts_.faultable.stopped_warps() == 0 && leaving_ == 0 && blocks_.empty()) return;
  displace_youngest(notice_faults(staged, now), now);
  for (Mask left = leaving_; left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    parts_.contexts.freeze(place, stops_at(place));
    if (departures_.concerns(place) && !departures_.may_go(place)) {
      tell_if_quiet(place, now);
      continue;
    }
    const bool saves = (dropping_ & bit_of(place)) == 0 && !free_numbers_.empty();
    if (saves && parts_.contexts.is_quiet(place)) save(place, now);
  }
  if (parts_.engine.wake() <= now) parts_.engine.advance(now);
  set_wake(now);
}

/// Reports a quiet block; each block that may be saved then has a place in memory to itself.
void LocalScheduler::tell_if_quiet(BlockPlace place, SmCycle now) {
  if (departures_.has_told(place) || !parts_.contexts.is_quiet(place)) return;
  const bool saves = departures_.otherwise(place) == Technique::save;
  if (saves && departures_.promised() >= free_numbers_.size()) return;
  departures_.quiet(place, parts_.contexts.is_small(place), now);
}

std::optional<BlockPlace> LocalScheduler::cluster_moves(const ClusterMove& move, SmCycle now) {
  const BlockPlace place =
      parts_.clusters.place_of(move.block.grid, move.block.cluster, move.block.rank);
  const bool is_leaving = (leaving_ & bit_of(place)) != 0;
  switch (move.step) {
    case ClusterMoveStep::stop:
      if (sm_.constants.setup.contexts.stops == StopPlaces::points &&
          move.technique == Technique::save)
        to_points_ |= bit_of(place);
      leave(place, Technique::save, now);
      return std::nullopt;
    case ClusterMoveStep::go: {
      if (!is_leaving) {
        const bool has_ended = parts_.clusters[place].ended;
        departures_.left(place, now);
        return has_ended ? std::optional(place) : std::nullopt;
      }
      departures_.allow(place);
      if (move.technique == Technique::flush) dropping_ |= bit_of(place);
      return std::nullopt;
    }
    default:
      if (!is_leaving) return std::nullopt;
      end_stop(place, now);
      departures_.forget(place);
      parts_.contexts.go_on(place, now);
      return std::nullopt;
  }
}

void LocalScheduler::end_stays(SmCycle now) {
  for (Mask left = staying_; left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    const BlockSlot& block = sm_.blocks.block(place);
    if (parts_.faultable.owes(block)) continue;
    staying_ &= ~bit_of(place);
    if (!sm_.constants.setup.contexts.tells_stays) continue;
    const std::uint32_t grid = sm_.blocks.grid(block.grid).launch.grid;
    sm_.ports.tell_dispatcher(MessageKind::block_settled,
                              BlockReference{grid, sm_.constants.setup.index, block.index}, now);
  }
}

void LocalScheduler::set_wake(SmCycle now) {
  wake_ = no_cycle;
  if (max_wait_ == no_cycle) return;
  bool displaces = false;
  for (const BlockInMemory& block : blocks_) {
    if (!can_return(block)) continue;
    displaces |= is_overdue(block, now);
    if (!is_overdue(block, now)) wake_ = std::min(wake_, block.ready + max_wait_.value());
  }
  for (Mask left = displaces ? on_chip() : 0; left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    if (displaces_at(place) > now) wake_ = std::min(wake_, displaces_at(place));
  }
}

std::size_t LocalScheduler::count(State state) const {
  return static_cast<std::size_t>(std::count_if(
      blocks_.begin(), blocks_.end(), [&](const auto& block) { return block.state == state; }));
}

bool LocalScheduler::can_leave(std::size_t staged) const {
  const std::size_t stopping = static_cast<std::size_t>(std::popcount(leaving_));
  const std::size_t leaving = stopping + count(State::leaving) + 1;
  const auto ready = static_cast<std::size_t>(std::count_if(
      blocks_.begin(), blocks_.end(), [&](const auto& block) { return can_return(block); }));
  const std::size_t in_memory = count(State::there) + leaving - std::min(leaving, ready);
  return leaving <= ready + staged && in_memory <= extra_ && stopping < free_numbers_.size();
}

/// Returns the blocks that must leave (Figure 9): those with a fault behind the threshold, if there
/// is something else to run. A block whose warp handles a fault by itself (section 4.2) stays,
/// because the handling runs here.
LocalScheduler::Mask LocalScheduler::notice_faults(std::size_t staged, SmCycle now) {
  const Mask here = on_chip();
  Mask faulted = 0;
  Mask squashed = 0;
  Mask handling = 0;
  parts_.faultable.for_each_squashed([&](SquashedLanes& lanes) {
    const Warp& warp = sm_.blocks.warp(parts_.faultable.warp_of(lanes.access));
    const Mask block = bit_of(BlockPlace(warp.block));
    squashed |= block;
    if (lanes.come) return;
    const auto [position, handled] = parts_.translation.fault_on(lanes.page);
    if (handled) handling |= block;
    const bool worth = policy_.worth_leaving(position);
    SmStatistics::OfTenant& counts = sm_.statistics.tenant[warp.tenant];
    if (!lanes.noticed) {
      ++counts.fault_notices;
      counts.fault_positions.add(position);
      if (!worth) ++counts.kept_for_near_faults;
    }
    if (worth && (here & ~staying_ & block) != 0) {
      faulted |= block;
      if (!lanes.noticed && !can_leave(staged)) ++counts.kept_for_want_of_others;
    }
    lanes.noticed = true;
  });
  for (faulted &= ~handling; faulted != 0 && can_leave(staged); faulted &= faulted - 1)
    leave(BlockPlace(static_cast<std::uint8_t>(std::countr_zero(faulted))), Technique::save, now);
  return squashed;
}

bool LocalScheduler::is_overdue(const BlockInMemory& block, SmCycle now) const {
  return max_wait_ != no_cycle && can_return(block) && block.ready + max_wait_.value() <= now;
}

void LocalScheduler::displace_youngest(Mask squashed, SmCycle now) {
  const auto first = first_ready();
  if (first == blocks_.end() || !is_overdue(*first, now)) return;
  if (leaving_ != 0 || count(State::leaving) != 0 || free_numbers_.empty()) return;
  if (sm_.blocks.has_room_for(sm_.blocks.grid(first->grid))) return;
  std::optional<BlockPlace> youngest;
  for (Mask left = on_chip() & ~squashed & ~staying_; left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    if (displaces_at(place) > now) continue;
    if (!youngest || displaces_at(place) > displaces_at(*youngest)) youngest = place;
  }
  if (youngest) leave(*youngest, Technique::save, now);
}

/// Returns the places of blocks that neither stop nor move, and may leave: whose context has room
/// in memory, and that are in no cluster unless `in_clusters`.
LocalScheduler::Mask LocalScheduler::may_leave(bool in_clusters) const {
  Mask places = 0;
  for (std::uint32_t i = 0; i < sm_.constants.parameters.blocks; ++i) {
    const BlockPlace place(static_cast<std::uint8_t>(i));
    const BlockSlot& block = sm_.blocks.block(place);
    if (block.used && (in_clusters || !departures_.concerns(place))) places |= bit_of(place);
  }
  for (const BlockInMemory& block : blocks_)
    if (block.state != State::there) places &= ~bit_of(block.place);
  return places & ~leaving_ & ~too_large_;
}

void LocalScheduler::leave(BlockPlace place, Technique technique, SmCycle now) {
  leaving_ |= bit_of(place);
  keeps_[place.value()] = 0;
  if (technique == Technique::flush) dropping_ |= bit_of(place);
  stops_[place.value()] = now;
  parts_.contexts.freeze(place, stops_at(place));
}

void LocalScheduler::save(BlockPlace place, SmCycle now) {
  const BlockSlot& slot = sm_.blocks.block(place);
  const GridSlot& grid = sm_.blocks.grid(slot.grid);
  const std::int64_t still = end_stop(place, now);
  BlockInMemory block;
  block.reference = {grid.launch.grid, sm_.constants.setup.index, slot.index};
  block.tenant = TenantId(grid.launch.tenant);
  block.grid = slot.grid;
  block.place = place;
  block.pages = squashed_pages(parts_.faultable, sm_.blocks, place, false);
  const std::vector<TlbKey> come = squashed_pages(parts_.faultable, sm_.blocks, place, true);
  block.ready = block.moves = now;
  block.progress = slot.progress;
  block.progress.began = SmCycle{} - (now - slot.progress.began);
  BlockContext context = parts_.contexts.take_out(place, now, keeps_[place.value()]);
  give_up(come, parts_.faultable, parts_.translation, now);
  block.bytes = context.bytes.size();
  block.parts = context.parts;
  block.kept = std::move(context.kept);
  if (sm_.constants.setup.contexts.traffic != ContextTraffic::ideal &&
      block.bytes > sm_.constants.setup.contexts.place_bytes) {
    LOCKSTEP_CHECK(!departures_.concerns(place),
                   "the context of a block of a cluster is too large");
    too_large_ |= bit_of(place);
    return parts_.contexts.put_in(place, block.kept.with(context.bytes, block.parts), now);
  }
  if (departures_.concerns(place)) departures_.left(place, now);
  if (grid.program->local_bytes > 0) parts_.l1.write_back_local(slot, now);
  block.number = free_numbers_.back();
  free_numbers_.pop_back();
  SmStatistics::OfTenant& counts = sm_.statistics.tenant[grid.launch.tenant];
  ++counts.blocks_saved;
  counts.context_bytes_saved += block.bytes;
  count_stop(counts, place, now);
  parts_.engine.save(block.number, block.tenant, std::move(context), now, still);
  blocks_.push_back(std::move(block));
}

std::optional<BlockPlace> LocalScheduler::take_flushed(SmCycle now) {
  for (Mask left = dropping_; left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    if (!parts_.contexts.is_quiet(place)) continue;
    const BlockSlot& block = sm_.blocks.block(place);
    SmStatistics::OfTenant& counts =
        sm_.statistics.tenant[sm_.blocks.grid(block.grid).launch.tenant];
    ++counts.blocks_flushed;
    counts.flushed_instructions += block.progress.executed.warp;
    count_stop(counts, place, now);
    const std::vector<TlbKey> come = squashed_pages(parts_.faultable, sm_.blocks, place, true);
    parts_.contexts.discard(place, now);
    if (departures_.concerns(place)) departures_.left(place, now);
    give_up(come, parts_.faultable, parts_.translation, now);
    return place;
  }
  return std::nullopt;
}

std::optional<LocalScheduler::Moved> LocalScheduler::take_moved(SmCycle now) {
  std::optional<ContextEngine::Done> done = parts_.engine.take_done(now);
  if (!done) return std::nullopt;
  const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const auto& other) { return other.number == done->place; });
  LOCKSTEP_CHECK(block != blocks_.end(), "a context moved that is no block's");
  sm_.blocks.count_residency(now);
  parts_.front_end.account_stalls(now);
  sm_.statistics.tenant[block->tenant.value()].context_move_cycles +=
      static_cast<std::uint64_t>(now - block->moves);
  Moved moved;
  if (done->saved && !block->dropped) {
    block->homes = sm_.blocks.leave_for_memory(block->place, block->keeps());
    sm_.blocks.keep(block->kept_resources());
    block->state = State::there;
    block->ready = now;
    untold_ = block->number;
    moved.saved = {block->reference, block->bytes,
                   block->parts,     sm_.constants.time_of(block->moves),
                   block->keeps(),   {}};
    return moved;
  }
  moved.what = block->dropped ? Moved::What::dropped : Moved::What::returned;
  if (block->dropped) {
    if (!done->saved)
      parts_.clusters.drop(block->reference, sm_.blocks.grid(block->grid).launch, now);
    moved.done = sm_.blocks.leave(block->place);
  } else {
    entered(block->place, now);
    staying_ |= bit_of(block->place);
    parts_.contexts.put_in(block->place, block->kept.with(done->bytes, block->parts), now);
    parts_.front_end.wake_at(now);
    BlockProgress& progress = sm_.blocks.block(block->place).progress;
    progress = block->progress;
    progress.began = now + (block->progress.began - SmCycle{});
    const GridSlot& grid = sm_.blocks.grid(block->grid);
    if (grid.stopped) make_room(block->place, grid.makes_room, now);
  }
  free_place(block->number, now);
  blocks_.erase(block);
  return moved;
}

std::vector<BlockInMemory>::const_iterator LocalScheduler::first_ready() const {
  return std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& block) {
    return can_return(block) && block.number != untold_;
  });
}

std::optional<std::uint8_t> LocalScheduler::next_to_return() const {
  const auto first = first_ready();
  if (first == blocks_.end() ||
      !sm_.blocks.has_room_for(sm_.blocks.grid(first->grid), first->kept_resources(), first->at))
    return std::nullopt;
  return first->grid;
}

void LocalScheduler::begin_return(SmCycle now) {
  BlockInMemory& block = blocks_[static_cast<std::size_t>(first_ready() - blocks_.begin())];
  sm_.blocks.count_residency(now);
  parts_.front_end.account_stalls(now);
  sm_.blocks.give_back(block.kept_resources());
  block.place =
      sm_.blocks.return_from_memory(block.reference, block.grid, std::move(block.homes), block.at);
  block.state = State::returning;
  block.moves = now;
  parts_.faultable.block_entered(block.place);
  SmStatistics::OfTenant& counts = sm_.statistics.tenant[block.tenant.value()];
  ++counts.blocks_restored;
  counts.context_bytes_restored += block.bytes;
  parts_.engine.restore(block.number, block.tenant, block.bytes, block.parts, now);
  sm_.ports.tell_dispatcher(MessageKind::block_restored, block.reference, now,
                            sm_.blocks.told_position_of(block.reference));
  set_wake(now);
}

void LocalScheduler::free_place(std::uint32_t number, SmCycle now) {
  const ContextArea& area = sm_.constants.setup.contexts;
  const std::uint32_t owner = number / area.places;
  parts_.engine.forget(number);
  if (owner == sm_.constants.setup.index) return free_numbers_.push_back(number);
  sm_.ports.tell_dispatcher(MessageKind::context_free, ContextPlace{owner, number}, now);
}

bool LocalScheduler::may_start(SmCycle now) const {
  return std::none_of(blocks_.begin(), blocks_.end(),
                      [&](const auto& block) { return is_overdue(block, now); });
}

std::vector<BlockDone> LocalScheduler::drop_tenant(TenantId tenant, SmCycle now) {
  std::vector<BlockDone> done;
  std::erase_if(blocks_, [&](BlockInMemory& block) {
    if (block.tenant != tenant) return false;
    block.dropped = block.state != State::there;
    if (block.dropped) return false;
    sm_.blocks.give_back(block.kept_resources());
    parts_.clusters.drop(block.reference, sm_.blocks.grid(block.grid).launch, now);
    done.push_back(sm_.blocks.forget_in_memory(block.reference, block.homes));
    free_place(block.number, now);
    return true;
  });
  for (Mask left = leaving_; left != 0; left &= left - 1) {
    const BlockPlace place(static_cast<std::uint8_t>(std::countr_zero(left)));
    const BlockSlot& slot = sm_.blocks.block(place);
    if (sm_.blocks.grid(slot.grid).launch.tenant != tenant.value()) continue;
    parts_.contexts.thaw(place);
    // The block leaves with its cluster, the rest of which has left.
    if (departures_.may_go(place)) continue;
    leaving_ &= ~bit_of(place);
    dropping_ &= ~bit_of(place);
    to_points_ &= ~bit_of(place);
    departures_.forget(place);
  }
  return done;
}

void LocalScheduler::count_blocks() const {
  for (std::size_t t = 0; t < sm_.statistics.tenant.size(); ++t)
    sm_.statistics.tenant[t].blocks_in_memory = sm_.statistics.tenant[t].blocks_to_return = 0;
  for (const BlockInMemory& block : blocks_) {
    SmStatistics::OfTenant& counts = sm_.statistics.tenant[block.tenant.value()];
    counts.blocks_in_memory += 1;
    if (can_return(block)) counts.blocks_to_return += 1;
  }
}

std::string LocalScheduler::waiting_for() const {
  if (blocks_.empty()) return "";
  const auto waiting = std::count_if(blocks_.begin(), blocks_.end(),
                                     [](const auto& block) { return !block.pages.empty(); });
  return std::to_string(blocks_.size()) + " blocks wait in memory, " + std::to_string(waiting) +
         " of them for pages";
}

}  // namespace lockstep
