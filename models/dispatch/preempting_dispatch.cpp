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

#include "core/engine/outbox.hpp"
#include "models/dispatch/dispatcher.hpp"

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
  if (sm.stopping) return std::nullopt;
  for (const std::size_t g : by_urgency_) {
    const Grid& grid = grids_[g];
    if (sm.owner && *sm.owner != grid.launch.grid) continue;
    const bool stopped = grid.stopped_at[index];
    if (!stopped && grid.away[index] > 0) return std::nullopt;  // they return first
    if (views_[g].blocks_waiting > 0 || (stopped && grid.away[index] > 0)) return g;
  }
  return std::nullopt;
}

void Dispatcher::make_room(Time now, Outbox& outbox) {
  sort_by_urgency();
  for (const std::size_t g : by_urgency_) {
    const GridView& view = views_[g];
    if (view.blocks_waiting == 0) continue;
    const Grid& grid = grids_[g];
    const std::uint64_t on_one = std::max(blocks_per_sm(grid.block, limits_), 1u);
    const std::uint64_t wanted = (view.blocks_waiting + on_one - 1) / on_one;
    auto has =
        static_cast<std::uint64_t>(std::count_if(sms_.begin(), sms_.end(), [&](const Sm& sm) {
          return !sm.owner || *sm.owner == grid.launch.grid || sm.stopping;
        }));
    for (auto victim = by_urgency_.rbegin(); victim != by_urgency_.rend() && has < wanted; ++victim)
      if (views_[*victim].priority < view.priority)
        has += take_from(grids_[*victim], grid, wanted - has, now, outbox);
  }
}

std::uint64_t Dispatcher::take_from(Grid& victim, const Grid& urgent, std::uint64_t most, Time now,
                                    Outbox& outbox) {
  std::uint64_t taken = 0;
  for (std::uint32_t i = 0; i < sms_.size() && taken < most; ++i) {
    Sm& sm = sms_[i];
    if (!sm.owner || *sm.owner != victim.launch.grid || sm.stopping) continue;
    sm.stopping = true;
    sm.asked = now;
    sm.asks = TenantId(urgent.launch.tenant);
    victim.stopped_at[i] = true;
    outbox.send(to_sms_[i], now, kind_of(MessageKind::stop_grid),
                GridStop{victim.launch.grid, technique_ == Technique::save});
    ++statistics_.sms_taken[victim.launch.tenant];
    ++taken;
  }
  return taken;
}

/// True: the grid's blocks that were saved there return before others go out.
bool Dispatcher::resume(Grid& grid, std::uint32_t index, Time now, Outbox& outbox) {
  if (!grid.stopped_at[index]) return false;
  grid.stopped_at[index] = false;
  sms_[index].owner = grid.launch.grid;
  outbox.send(to_sms_[index], now, kind_of(MessageKind::resume_grid),
              GridReference{grid.launch.grid, 0});
  return grid.away[index] > 0;
}

/// A block that was staged comes back; it goes out again before those that never did.
void Dispatcher::block_returned(const BlockReference& block, Time now, Outbox& outbox) {
  const auto grid = grid_at(block.grid);
  set_staged(block.sm, false);
  --grid->running;
  ++statistics_.blocks_returned[grid->launch.tenant];
  if (grid->aborted) {
    --grid->blocks;
  } else {
    grid->returned.push_back(block.block);
  }
  if (grid->aborted && grid->done == grid->blocks) finish_grid(grid, now, outbox);
}

void Dispatcher::grid_stopped(const GridReference& stopped, Time now) {
  Sm& sm = sms_[stopped.sm];
  const auto waited = static_cast<std::uint64_t>((now - sm.asked).femtoseconds() / 1'000'000);
  statistics_.preemption_latency[sm.asks.value()].add(waited);
  statistics_.preemption_time[sm.asks.value()] += waited;
  sm.stopping = false;
  sm.owner.reset();
}

void Dispatcher::release_if_empty(const Grid& owner, std::uint32_t index) {
  Sm& sm = sms_[index];
  if (sm.owner == owner.launch.grid && !sm.stopping && sm.on_chip == 0 && !sm.has_staged &&
      owner.away[index] == 0)
    sm.owner.reset();
}

}  // namespace lockstep
