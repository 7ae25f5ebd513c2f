/// Dispatch when a more urgent grid may take SMs from another one.
///
/// An SM belongs to one grid at a time.  A grid begins when all that have blocks running are less
/// urgent (by the priority of its tenant).  It is to have as many SMs as its waiting blocks fill;
/// what it lacks is taken from the least urgent grids, and the technique says how their blocks make
/// room.
/// An SM that nobody more urgent wants goes back: first the blocks return that were saved there.
/// Source: 002, section II; 003, section 4.1; preemption.md, section 2.
///
/// Simplified: SMs are taken as a whole, in the order of their numbers.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "core/engine/outbox.hpp"
#include "models/dispatch/dispatcher.hpp"
#include "models/dispatch/preemption/victim_selection.hpp"

namespace lockstep {

void Dispatcher::sort_by_urgency() {
  by_urgency_.clear();
  for (std::size_t g = 0; g < views_.size(); ++g)
    if (may_run(g)) by_urgency_.push_back(g);
  std::stable_sort(by_urgency_.begin(), by_urgency_.end(), [&](std::size_t a, std::size_t b) {
    return views_[a].priority > views_[b].priority;
  });
}

bool Dispatcher::may_run(std::size_t g) const {
  const GridView& view = views_[g];
  if (!view.ready || view.blocks_running > 0) return view.ready;
  return std::all_of(views_.begin(), views_.end(), [&](const GridView& other) {
    return other.blocks_running == 0 || other.priority < view.priority;
  });
}

std::optional<std::size_t> Dispatcher::choose_by_urgency(std::uint32_t index) const {
  const Sm& sm = sms_[index];
  const bool stopping = takeovers_.is_stopping(index);
  if (stopping && !takeovers_.needs().shares) return std::nullopt;
  for (const std::size_t g : by_urgency_) {
    const Grid& grid = grids_[g];
    if (stopping) {
      if (grid.launch.grid != takeovers_.urgent_at(index)) continue;
      return views_[g].blocks_waiting > 0 ? std::optional(g) : std::nullopt;
    }
    if (sm.owner && *sm.owner != grid.launch.grid) continue;
    const bool stopped = grid.stopped_at[index];
    if (!stopped && grid.away[index] > 0) return std::nullopt;  // they return first
    if (views_[g].blocks_waiting > 0 || (stopped && grid.away[index] > 0)) return g;
  }
  return std::nullopt;
}

void Dispatcher::make_room(Time now, Outbox& outbox) {
  end_long_drains(now, outbox);
  sort_by_urgency();
  if (takeovers_.needs().shares) give_back_shared(now, outbox);
  for (const std::size_t g : by_urgency_) {
    const Grid& grid = grids_[g];
    if (views_[g].blocks_waiting == 0 || lacking(grid) == 0) continue;
    if (takeovers_.needs().asks) {
      if (!takeovers_.is_asking()) ask_status(grid, now, outbox);
      continue;
    }
    for (auto victim = by_urgency_.rbegin(); victim != by_urgency_.rend(); ++victim)
      for (std::uint32_t i = 0; i < sms_.size() && lacking(grid) > 0; ++i)
        if (victim_at(i, grid.launch.priority) == &grids_[*victim])
          take_sm(i, grids_[*victim], grid, {}, now, outbox);
  }
}

std::uint64_t Dispatcher::lacking(const Grid& grid) const {
  const std::uint32_t on_one = std::max(blocks_per_sm(grid.block, limits_), 1u);
  const bool shares = takeovers_.needs().shares;
  const std::uint64_t wanted = shares ? grid.waiting() : (grid.waiting() + on_one - 1) / on_one;
  std::uint64_t has = 0;
  for (std::uint32_t i = 0; i < sms_.size() && has < wanted; ++i) {
    const Sm& sm = sms_[i];
    const bool stopping = takeovers_.is_stopping(i);
    if (sm.owner && *sm.owner != grid.launch.grid && !stopping) continue;
    if (!shares) {
      ++has;
    } else if (!stopping) {
      has += on_one - std::min(on_one, sm.on_chip);
    } else if (takeovers_.urgent_at(i) == grid.launch.grid) {
      has += takeovers_.places_at(i) - std::min(takeovers_.places_at(i), sm.guests);
    }
  }
  return wanted - std::min(wanted, has);
}

Dispatcher::Grid* Dispatcher::victim_at(std::uint32_t index, std::uint32_t priority) {
  const Sm& sm = sms_[index];
  if (!sm.owner || takeovers_.is_stopping(index)) return nullptr;
  Grid& owner = *grid_at(*sm.owner);
  return owner.launch.priority < priority ? &owner : nullptr;
}

void Dispatcher::ask_status(const Grid& urgent, Time now, Outbox& outbox) {
  std::size_t asked = 0;
  for (std::uint32_t i = 0; i < sms_.size(); ++i) {
    const Grid* victim = victim_at(i, urgent.launch.priority);
    if (victim == nullptr) continue;
    outbox.send(to_sms_[i], now, kind_of(MessageKind::ask_status),
                GridReference{victim->launch.grid, i});
    ++asked;
  }
  if (asked > 0) takeovers_.ask(urgent.launch, asked, now);
}

void Dispatcher::status(const MessageHeader& message, Outbox& outbox) {
  const auto& from = message.body<GridReference>();
  SmStatus status{from.sm, from.grid, {}};
  const std::span<const std::byte> blocks = message.payload();
  status.blocks.resize(blocks.size() / sizeof(BlockStatus));
  if (!blocks.empty()) std::memcpy(status.blocks.data(), blocks.data(), blocks.size());
  if (!takeovers_.answered(std::move(status))) return;
  const GridLaunch& asking = takeovers_.asking_grid();
  const auto urgent = std::find_if(grids_.begin(), grids_.end(), [&](const Grid& grid) {
    return grid.launch.grid == asking.grid;
  });
  if (urgent != grids_.end()) take_best(*urgent, message.arrival, outbox);
  takeovers_.end_asking();
}

void Dispatcher::take_best(Grid& urgent, Time now, Outbox& outbox) {
  auto offers = takeovers_.offers([&](const SmStatus& sm) {
    const Grid* victim = victim_at(sm.sm, urgent.launch.priority);
    if (victim == nullptr || victim->launch.grid != sm.grid)
      return std::optional<Takeovers::Victim>{};
    const std::uint64_t registers = victim->block.registers * std::uint64_t{4};
    return std::optional(Takeovers::Victim{victim->launch, registers + victim->block.shared_bytes});
  });
  if (takeovers_.needs().shares) return take_places(urgent, std::move(offers), now, outbox);
  for (const Takeovers::Offer& offer : offers)
    if (lacking(urgent) > 0)
      take_sm(offer.sm, *grid_at(offer.victim.launch.grid), urgent, offer.release, now, outbox);
}

void Dispatcher::take_places(Grid& urgent, std::vector<Takeovers::Offer> offers, Time now,
                             Outbox& outbox) {
  std::vector<SmSelection> selections;
  for (Takeovers::Offer& offer : offers) {
    const Sm& sm = sms_[offer.sm];
    const Grid& victim = *grid_at(offer.victim.launch.grid);
    selections.emplace_back(SmSelection::Setup{offer.sm, &sm.places, sm.used, limits_, urgent.block,
                                               victim.block, victim.launch.grid,
                                               std::move(offer.release.blocks)});
  }
  select_victims(selections, lacking(urgent), takeovers_.bound_of(urgent.launch));
  for (const SmSelection& selection : selections)
    if (const SmRelease release = selection.release(); release.places > 0)
      take_sm(selection.sm(), *grid_at(*sms_[selection.sm()].owner), urgent, release, now, outbox);
}

void Dispatcher::give_back_shared(Time now, Outbox& outbox) {
  for (std::uint32_t i = 0; i < sms_.size(); ++i) {
    if (!takeovers_.is_stopping(i) || sms_[i].guests > 0) continue;
    const auto urgent = std::find_if(grids_.begin(), grids_.end(), [&](const Grid& grid) {
      return grid.launch.grid == takeovers_.urgent_at(i);
    });
    if (urgent != grids_.end() && urgent->waiting() > 0) continue;
    takeovers_.end(i);
    resume(*grid_at(*sms_[i].owner), i, now, outbox);
  }
}

void Dispatcher::take_sm(std::uint32_t index, Grid& victim, const Grid& urgent,
                         const SmRelease& release, Time now, Outbox& outbox) {
  std::vector<BlockCommand> commands;
  for (const SmRelease::Block& block : release.blocks) commands.push_back(block.command);
  victim.stopped_at[index] = true;
  outbox.send(to_sms_[index], now, kind_of(MessageKind::stop_grid),
              GridStop{victim.launch.grid, takeovers_.others(), {}},
              std::as_bytes(std::span(commands)));
  takeovers_.begin(index, victim.launch, urgent.launch, release, now);
}

void Dispatcher::end_long_drains(Time now, Outbox& outbox) {
  for (const Takeovers::Overdue& sm : takeovers_.overdue(now))
    outbox.send(to_sms_[sm.sm], now, kind_of(MessageKind::stop_grid),
                GridStop{*sms_[sm.sm].owner, sm.others, {}}, std::as_bytes(std::span(sm.commands)));
}

/// True: the grid's blocks that were saved there return before others go out.
bool Dispatcher::resume(Grid& grid, std::uint32_t index, Time now, Outbox& outbox) {
  if (!grid.stopped_at[index]) return false;
  grid.stopped_at[index] = false;
  if (!takeovers_.is_stopping(index)) sms_[index].owner = grid.launch.grid;
  outbox.send(to_sms_[index], now, kind_of(MessageKind::resume_grid),
              GridReference{grid.launch.grid, 0});
  return grid.away[index] > 0;
}

/// A block that was staged comes back.
void Dispatcher::block_returned(const BlockReference& block, Time now, Outbox& outbox) {
  const auto grid = grid_at(block.grid);
  set_staged(block.sm, false);
  ++statistics_.blocks_returned[grid->launch.tenant];
  send_again(grid, block, now, outbox);
}

void Dispatcher::block_flushed(const BlockDone& flushed, Time now, Outbox& outbox) {
  const BlockReference& block = flushed.block;
  const auto grid = grid_at(block.grid);
  PreemptionRecord record;
  record.block = block;
  record.technique = Technique::flush;
  record.released = now;
  record.lost = flushed.work.executed.warp;
  takeovers_.left(record);
  vacate(block.sm, *grid, block.block);
  start_staged(block.sm);
  release_if_empty(*grid, block.sm);
  InstructionCount kept = flushed.executed;
  kept -= flushed.work.executed;
  grid->executed += kept;
  count(TenantId{grid->launch.tenant}, kept, now, outbox);
  ++statistics_.blocks_restarted[grid->launch.tenant];
  statistics_.wasted_instructions[grid->launch.tenant] += record.lost;
  send_again(grid, block, now, outbox);
}

/// It goes out before those that never did.
void Dispatcher::send_again(GridPlace grid, const BlockReference& block, Time now, Outbox& outbox) {
  --grid->running;
  if (grid->aborted) {
    --grid->blocks;
    if (grid->done == grid->blocks) finish_grid(grid, now, outbox);
  } else {
    grid->returned.push_back(block.block);
  }
}

void Dispatcher::grid_stopped(const GridReference& stopped, Time now) {
  if (!takeovers_.is_stopping(stopped.sm)) return;  // it was given back before
  takeovers_.entered(stopped.sm, now);
  takeovers_.end(stopped.sm);
  Sm& sm = sms_[stopped.sm];
  sm.owner = std::exchange(sm.guest, std::nullopt);
  sm.guests = 0;
}

void Dispatcher::release_if_empty(const Grid& owner, std::uint32_t index) {
  Sm& sm = sms_[index];
  if (sm.owner == owner.launch.grid && !takeovers_.is_stopping(index) && sm.on_chip == 0 &&
      !sm.has_staged && owner.away[index] == 0)
    sm.owner.reset();
}

}  // namespace lockstep
