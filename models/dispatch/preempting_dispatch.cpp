#include "models/dispatch/preempting_dispatch.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/dispatch/victims/in_place.hpp"
#include "models/dispatch/victims/victim_selection.hpp"
#include "models/noc/cluster_messages.hpp"

namespace lockstep {

static void count(const SmSelection::Counts& counts, std::size_t tenant,
                  DispatchStatistics& statistics) {
  statistics.candidates[tenant] += counts.candidates;
  statistics.places_chosen[tenant] += counts.chosen;
  statistics.places_free_before[tenant] += counts.free_before;
  statistics.places_widened[tenant] += counts.widened;
  ++statistics.sms_considered[tenant];
  statistics.fragmented_registers[tenant] += counts.fragmented_registers;
  statistics.fragmented_shared[tenant] += counts.fragmented_shared;
}

void PreemptingDispatch::sort_by_urgency() {
  by_urgency_.clear();
  for (std::size_t g = 0; g < views_.size(); ++g)
    if (may_run(g)) by_urgency_.push_back(g);
  std::erase_if(by_urgency_, [&](std::size_t g) {
    const DispatchedGrid& grid = parts_.grids[g];
    return grid.is_to_gather() && !may_gather(grid);
  });
  std::stable_sort(by_urgency_.begin(), by_urgency_.end(), [&](std::size_t a, std::size_t b) {
    return urgency_of(views_[a]) > urgency_of(views_[b]);
  });
}

bool PreemptingDispatch::may_run(std::size_t g) const {
  const GridView& view = views_[g];
  if (!view.ready || view.blocks_running > 0) return view.ready;
  return std::all_of(views_.begin(), views_.end(), [&](const GridView& other) {
    return other.blocks_running == 0 || urgency_of(other) < urgency_of(view);
  });
}

std::optional<std::size_t> PreemptingDispatch::choose(std::uint32_t index) const {
  const SmMirror& sm = parts_.sms[index];
  const bool stopping = takeovers_.is_stopping(index);
  if (stopping && !takeovers_.steps().share) return std::nullopt;
  for (const std::size_t g : by_urgency_) {
    const DispatchedGrid& grid = parts_.grids[g];
    if (stopping) {
      if (grid.number() != takeovers_.urgent_at(index)) continue;
      return views_[g].blocks_waiting > 0 ? std::optional(g) : std::nullopt;
    }
    if (sm.owner && *sm.owner != grid.number()) continue;
    const bool stopped = grid.stopped_at[index];
    if (!stopped && grid.away[index] > 0 && grid.in_hand.empty())
      return std::nullopt;  // saved blocks return first
    if (views_[g].blocks_waiting > 0 || (stopped && grid.away[index] > 0) ||
        grid.is_bringing_back() || grid.sm_to_ask())
      return g;
  }
  return std::nullopt;
}

void PreemptingDispatch::make_room(std::span<const GridView> views, Time now, Outbox& outbox) {
  if (!takeovers_.steps().take) return;
  views_ = views;
  takeovers_.back_off().end_past(now);
  if (is_alone()) return by_urgency_.assign(views.front().ready ? 1 : 0, 0);
  end_long_drains(now, outbox);
  send_signal(now, outbox);
  slices_.update(views, now);
  sort_by_urgency();
  if (takeovers_.steps().share) give_back_shared(now, outbox);
  if (takeovers_.steps().leaves_in_place()) let_keepers_return(now, outbox);
  for (const std::size_t g : by_urgency_) make_room_for(parts_.grids[g], now, outbox);
  if (slices_.is_due() && has_settled()) slices_.begin(now);
}

/// Returns whether make_room() has nothing to do, as is the case for every block of a grid that is
/// alone.
bool PreemptingDispatch::is_alone() const {
  return views_.size() == 1 && parts_.grids.front().all_away == 0 &&
         parts_.grids.front().in_hand.empty() && !slices_.any() && !takeovers_.any_stopping() &&
         takeovers_.signals_next() == Time::never();
}

void PreemptingDispatch::make_room_for(const DispatchedGrid& grid, Time now, Outbox& outbox) {
  reclaim(grid, now, outbox);
  if (lacking(grid) == 0) return;
  if (takeovers_.steps().ask) {
    if (!takeovers_.is_asking()) ask_status(grid, now, outbox);
    return;
  }
  for (auto victim = by_urgency_.rbegin(); victim != by_urgency_.rend(); ++victim)
    for (std::uint32_t i = 0; i < parts_.sms.size() && lacking(grid) > 0; ++i)
      if (victim_at(i, urgency_of(grid)) == &parts_.grids[*victim])
        take_sm(i, parts_.grids[*victim], grid, {}, now, outbox);
}

bool PreemptingDispatch::has_settled() const {
  for (const DispatchedGrid& grid : parts_.grids) {
    const std::uint64_t saved = grid.saved_clusters.blocks();
    const bool returns = grid.coming_back > 0 || (saved > 0 && saved == grid.running);
    if (slices_.has_turn(TenantId(grid.launch.tenant)) && (returns || !grid.settling.empty()))
      return false;
  }
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i) {
    if (takeovers_.is_stopping(i)) return false;
    for (const DispatchedGrid& grid : parts_.grids) {
      const bool goes_on = !parts_.sms[i].owner && slices_.has_turn(TenantId(grid.launch.tenant));
      if (grid.away[i] > 0 && (goes_on || !grid.stopped_at[i])) return false;
    }
  }
  return true;
}

void PreemptingDispatch::reclaim(const DispatchedGrid& grid, Time now, Outbox& outbox) {
  if (grid.all_away == 0) return;
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i)
    if (grid.away[i] > 0 && grid.stopped_at[i])
      if (DispatchedGrid* victim = victim_at(i, urgency_of(grid)))
        take_sm(i, *victim, grid, {}, now, outbox);
}

std::uint64_t PreemptingDispatch::lacking(const DispatchedGrid& grid) const {
  const bool shares = takeovers_.steps().share.has_value();
  const std::uint64_t blocks = grid.waiting() + (shares ? 0 : grid.in_hand.size());
  std::uint64_t has = 0;
  const bool in_clusters = grid.cluster_blocks() > 1;
  for (std::uint32_t i = 0; !in_clusters && i < parts_.sms.size() && has < blocks; ++i)
    has += places_at(i, grid);
  const std::uint64_t places =
      in_clusters ? blocks_without_cluster(grid, blocks) : blocks - std::min(blocks, has);
  const std::uint32_t on_one = std::max(blocks_per_sm(grid.block, parts_.limits), 1u);
  return shares ? places : (places + on_one - 1) / on_one;
}

std::uint64_t PreemptingDispatch::blocks_without_cluster(const DispatchedGrid& grid,
                                                         std::uint64_t blocks) const {
  const std::uint32_t size = grid.cluster_blocks();
  for (std::uint32_t gpc = 0; gpc < parts_.topology.clusters(); ++gpc) {
    std::uint64_t there = 0;
    const std::uint32_t end = parts_.topology.first_sm(gpc + 1).value();
    for (std::uint32_t sm = parts_.topology.first_sm(gpc).value(); sm < end; ++sm)
      there += places_at(sm, grid);
    blocks -= std::min(blocks, there / size * size);
  }
  return blocks;
}

std::uint64_t PreemptingDispatch::places_at(std::uint32_t index, const DispatchedGrid& grid) const {
  const SmMirror& sm = parts_.sms[index];
  const bool stopping = takeovers_.is_stopping(index);
  const bool shares = takeovers_.steps().share.has_value();
  if (sm.owner && *sm.owner != grid.number() && !stopping) return 0;
  if (stopping && shares) {
    if (takeovers_.urgent_at(index) != grid.number()) return 0;
    return takeovers_.places_at(index) - std::min(takeovers_.places_at(index), sm.guests);
  }
  const std::uint32_t on_one = std::max(blocks_per_sm(grid.block, parts_.limits), 1u);
  if (shares) return on_one - std::min(on_one, sm.on_chip);
  if (stopping || !sm.owner) return on_one;
  return sm.has_staged ? 0 : parts_.sms.room_for(index, grid, parts_.grids, on_one);
}

DispatchedGrid* PreemptingDispatch::victim_at(std::uint32_t index, const Urgency& urgency) const {
  const SmMirror& sm = parts_.sms[index];
  if (!sm.owner || takeovers_.is_stopping(index) || takeovers_.back_off().is_left_alone(index))
    return nullptr;
  DispatchedGrid& owner = *parts_.grids.at(*sm.owner);
  if (takeovers_.steps().leaves_in_place() && owner.away[index] > 0)
    return nullptr;  // saved blocks return first
  // Some blocks could wait for others that have not started.
  if (owner.is_gathering()) return nullptr;
  return urgency_of(owner) < urgency ? &owner : nullptr;
}

std::uint64_t PreemptingDispatch::obtainable(const DispatchedGrid& grid) const {
  const std::uint32_t on_one = blocks_per_sm(grid.block, parts_.limits);
  std::uint64_t places = 0;
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i) {
    const bool stopping = takeovers_.is_stopping(i);
    if (stopping ? takeovers_.urgent_at(i) == grid.number()
                 : !parts_.sms[i].owner || victim_at(i, urgency_of(grid)) != nullptr)
      places += on_one;
  }
  return places;
}

bool PreemptingDispatch::may_gather(const DispatchedGrid& gang) const {
  return !gangs_.overlaps(gang) && obtainable(gang) >= gang.blocks;
}

std::uint64_t PreemptingDispatch::coming(const DispatchedGrid& grid) const {
  const std::uint32_t on_one = blocks_per_sm(grid.block, parts_.limits);
  std::uint64_t places = 0;
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i) {
    const SmMirror& sm = parts_.sms[i];
    if (!sm.owner || *sm.owner == grid.number()) continue;
    const bool shared = takeovers_.steps().share && takeovers_.is_stopping(i);
    places +=
        shared ? takeovers_.places_at(i) - std::min(takeovers_.places_at(i), sm.guests) : on_one;
  }
  return places;
}

/// With selection by rounds, the grid may also take more from an SM that has given everything asked
/// before.
DispatchedGrid* PreemptingDispatch::victim_for(std::uint32_t index,
                                               const DispatchedGrid& urgent) const {
  if (!takeovers_.is_stopping(index)) return victim_at(index, urgency_of(urgent));
  const bool next_round =
      takeovers_.steps().by_rounds() && !urgent.cooperative && takeovers_.is_released(index) &&
      takeovers_.urgent_at(index) == urgent.number() &&
      parts_.sms[index].guests >= takeovers_.places_at(index) && !takeovers_.is_exhausted(index);
  return next_round ? &*parts_.grids.at(*parts_.sms[index].owner) : nullptr;
}

void PreemptingDispatch::ask_status(const DispatchedGrid& urgent, Time now, Outbox& outbox) {
  std::size_t asked = 0;
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i) {
    const DispatchedGrid* victim = victim_for(i, urgent);
    if (victim == nullptr) continue;
    outbox.send(parts_.to_sms[i], now, kind_of(MessageKind::ask_status),
                GridReference{victim->number(), i});
    ++asked;
  }
  if (asked > 0) takeovers_.ask(urgent.launch, asked, now);
}

void PreemptingDispatch::status(const MessageHeader& message, Outbox& outbox) {
  const auto& from = message.body<GridReference>();
  SmStatus status{from.sm, from.grid, {}};
  const std::span<const std::byte> blocks = message.payload();
  status.blocks.resize(blocks.size() / sizeof(BlockStatus));
  if (!blocks.empty()) std::memcpy(status.blocks.data(), blocks.data(), blocks.size());
  if (!takeovers_.answered(std::move(status))) return;
  const auto urgent = parts_.grids.find(takeovers_.asking_grid().grid);
  if (urgent != parts_.grids.end()) take_best(*urgent, message.arrival, outbox);
  takeovers_.end_asking();
}

void PreemptingDispatch::take_best(const DispatchedGrid& urgent, Time now, Outbox& outbox) {
  takeovers_.unite_clusters([&](std::uint32_t number, std::uint64_t block) {
    const auto grid = parts_.grids.find(number);
    const bool in_cluster = grid != parts_.grids.end() && grid->cluster_blocks() > 1;
    return in_cluster ? std::optional(place_in_cluster(grid->launch, block).cluster) : std::nullopt;
  });
  auto offers = takeovers_.offers([&](const SmStatus& sm) {
    const DispatchedGrid* victim = victim_for(sm.sm, urgent);
    if (victim == nullptr || victim->number() != sm.grid) return std::optional<Takeovers::Victim>{};
    const std::uint64_t registers = victim->block.registers * std::uint64_t{4};
    return std::optional(Takeovers::Victim{victim->launch, registers + victim->block.shared_bytes,
                                           victim->launched_before});
  });
  if (takeovers_.steps().share) return take_places(urgent, std::move(offers), now, outbox);
  for (const Takeovers::Offer& offer : offers)
    if (lacking(urgent) > 0)
      take_sm(offer.sm, *parts_.grids.at(offer.victim.launch.grid), urgent, offer.release, now,
              outbox);
}

void PreemptingDispatch::take_places(const DispatchedGrid& urgent,
                                     std::vector<Takeovers::Offer> offers, Time now,
                                     Outbox& outbox) {
  std::vector<SmSelection> selections;
  for (Takeovers::Offer& offer : offers) {
    const SmMirror& sm = parts_.sms[offer.sm];
    const DispatchedGrid& victim = *parts_.grids.at(offer.victim.launch.grid);
    selections.emplace_back(SmSelection::Setup{offer.sm, &sm.places, sm.used, parts_.limits,
                                               urgent.block, victim.block, victim.number(),
                                               std::move(offer.release.blocks)});
  }
  select_victims(selections, lacking(urgent), takeovers_.bound_left(urgent.launch),
                 takeovers_.steps().by_rounds() && !urgent.cooperative ? SelectionRounds::serial
                                                                       : SelectionRounds::burst);
  for (const SmSelection& selection : selections) {
    count(selection.counts(), urgent.launch.tenant, statistics_);
    const std::uint32_t sm = selection.sm();
    const SmRelease release = selection.release();
    if (release.places > 0) {
      take_sm(sm, *parts_.grids.at(*parts_.sms[sm].owner), urgent, release, now, outbox);
    } else if (takeovers_.is_stopping(sm)) {
      takeovers_.exhaust(sm);
    }
  }
}

void PreemptingDispatch::give_back_shared(Time now, Outbox& outbox) {
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i) {
    if (!takeovers_.is_stopping(i) || parts_.sms[i].guests > 0) continue;
    const auto urgent = parts_.grids.find(takeovers_.urgent_at(i));
    if (urgent != parts_.grids.end() && urgent->waiting() > 0) continue;
    takeovers_.end(i);
    resume(*parts_.grids.at(*parts_.sms[i].owner), i, now, outbox);
  }
}

void PreemptingDispatch::take_sm(std::uint32_t index, DispatchedGrid& victim,
                                 const DispatchedGrid& urgent, const SmRelease& release, Time now,
                                 Outbox& outbox) {
  count_use(index, now);
  std::vector<BlockCommand> commands;
  for (const SmRelease::Block& block : release.blocks) commands.push_back(block.command);
  if (takeovers_.steps().leaves_in_place()) commands = in_place_commands(index, victim, urgent);
  victim.stopped_at[index] = true;
  victim.arriving[index] = 0;
  victim.keeps[index] = false;
  outbox.send(parts_.to_sms[index], now, kind_of(MessageKind::stop_grid),
              GridStop{victim.number(), takeovers_.others(), {}},
              std::as_bytes(std::span(commands)));
  takeovers_.begin(index, victim.launch, urgent.launch, release, now);
}

std::vector<BlockCommand> PreemptingDispatch::in_place_commands(
    std::uint32_t index, const DispatchedGrid& victim, const DispatchedGrid& urgent) const {
  const SmPlaces& places = parts_.sms[index].places;
  if (places.keeper() || victim.number() == urgent.number()) return {};
  const std::vector<BlockRoom> rooms = places.rooms_of(victim.number());
  const std::uint64_t comes = std::max<std::uint64_t>(1, urgent.waiting() + urgent.away[index]);
  const std::vector<std::uint8_t> kept =
      kept_in_place(rooms, urgent.block,
                    static_cast<std::uint32_t>(
                        std::min<std::uint64_t>(comes, blocks_per_sm(urgent.block, parts_.limits))),
                    parts_.limits);
  std::vector<BlockCommand> commands;
  for (std::size_t i = 0; i < rooms.size(); ++i)
    commands.push_back({rooms[i].block, Technique::save, kept[i], {}});
  return commands;
}

void PreemptingDispatch::let_keepers_return(Time now, Outbox& outbox) {
  for (std::uint32_t i = 0; i < parts_.sms.size(); ++i) {
    const SmMirror& sm = parts_.sms[i];
    const std::optional<std::uint32_t> keeper = sm.places.keeper();
    if (!keeper || sm.owner || takeovers_.is_stopping(i)) continue;
    const std::optional<std::size_t> next = choose(i);
    if (!next || parts_.grids[*next].number() == *keeper || fits_beside(i, parts_.grids[*next]))
      continue;
    resume(*parts_.grids.at(*keeper), i, now, outbox);
  }
}

/// Returns whether the grid fits beside state that another grid has left on chip. A gang must find
/// as many places as it would without that state.
bool PreemptingDispatch::fits_beside(std::uint32_t index, const DispatchedGrid& grid) const {
  if (!grid.is_to_gather()) return parts_.sms[index].places.has_place(grid.block);
  const auto wanted = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(grid.blocks, blocks_per_sm(grid.block, parts_.limits)));
  return parts_.sms.room_for(index, grid, parts_.grids, wanted) == wanted;
}

void PreemptingDispatch::end_long_drains(Time now, Outbox& outbox) {
  for (const Takeovers::Overdue& sm : takeovers_.overdue(now)) {
    const std::uint32_t owner = *parts_.sms[sm.sm].owner;
    const auto grid = parts_.grids.find(owner);  // a grid may end before the SM's stop is known
    if (!takeovers_.steps().gives_up()) {
      outbox.send(parts_.to_sms[sm.sm], now, kind_of(MessageKind::stop_grid),
                  GridStop{owner, sm.others, {}}, std::as_bytes(std::span(sm.commands)));
    } else if (grid != parts_.grids.end() && !grid->returned.empty()) {
      count_use(sm.sm, now);
      takeovers_.give_up(sm.sm, now);
      resume(*grid, sm.sm, now, outbox);
    } else {
      takeovers_.go_on_draining(sm.sm, now);
    }
  }
}

/// Sends a signal to an SM. An SM whose blocks are still on their way back gets none, since they
/// would never make progress. The blocks do not return elsewhere: the SM is theirs again as soon as
/// they have left.
void PreemptingDispatch::send_signal(Time now, Outbox& outbox) {
  const auto sm = takeovers_.signals().take(now, [&](std::uint32_t i) {
    const std::optional<std::uint32_t> owner = parts_.sms[i].owner;
    return owner && !takeovers_.is_stopping(i) && parts_.grids.at(*owner)->away[i] == 0 &&
           !parts_.grids.at(*owner)->is_gathering();
  });
  if (!sm) return;
  DispatchedGrid& owner = *parts_.grids.at(*parts_.sms[*sm].owner);
  take_sm(*sm, owner, owner, {}, now, outbox);
}

bool PreemptingDispatch::resume(DispatchedGrid& grid, std::uint32_t index, Time now,
                                Outbox& outbox) {
  if (!grid.stopped_at[index]) return false;
  grid.stopped_at[index] = false;
  if (!takeovers_.is_stopping(index)) parts_.sms[index].owner = grid.number();
  outbox.send(parts_.to_sms[index], now, kind_of(MessageKind::resume_grid),
              GridReference{grid.number(), 0});
  return grid.away[index] > 0;
}

bool PreemptingDispatch::has_room_beside_returning(std::uint32_t index,
                                                   const DispatchedGrid& grid) const {
  BlockResources used = parts_.sms[index].used;
  for (std::uint32_t i = grid.returning_to(index); i > 0; --i) used += grid.block;
  return used.leaves_room_for(grid.block, parts_.limits);
}

bool PreemptingDispatch::bring_back(DispatchedGrid& grid, std::uint32_t index, bool stage, Time now,
                                    Outbox& outbox) {
  if (!takeovers_.steps().save || takeovers_.is_stopping(index)) return false;
  if (!stage && !grid.in_hand.empty() && has_room_beside_returning(index, grid)) {
    const BlockInHand& next = grid.in_hand.front();
    grid.introduce_at(index, parts_.to_sms[index], now, outbox);
    outbox.send(parts_.to_sms[index], now, kind_of(MessageKind::block_given), next.block,
                next.payload);
    parts_.sms[index].owner = grid.number();
    grid.goes_to(index, next.block.block.block);
    grid.goes_away(index);
    ++grid.arriving[index];
    if (next.block.block.sm != index) ++statistics_.blocks_moved[grid.launch.tenant];
    grid.in_hand.pop_front();
    return true;
  }
  const std::optional<std::uint32_t> sm = grid.sm_to_ask();
  if (!sm || grid.in_hand.size() >= parts_.sms.size()) return false;
  grid.ask(*sm);
  outbox.send(parts_.to_sms[*sm], now, kind_of(MessageKind::give_block),
              GridReference{grid.number(), *sm});
  return true;
}

void PreemptingDispatch::saved(DispatchedGrid& grid, const BlockSaved& saved, Time now) {
  const std::uint32_t sm = saved.block.sm;
  takeovers_.saved(grid.launch, saved, now);
  grid.goes_away(sm);  // a signal may move a block of the urgent grid itself
  grid.keeps[sm] = takeovers_.is_stopping(sm) && takeovers_.urgent_at(sm) == grid.number();
}

void PreemptingDispatch::given(DispatchedGrid& grid, const BlockGiven& given,
                               std::span<const std::byte> context) {
  const std::uint32_t from = given.block.sm;
  grid.has_answered(from);
  grid.keeps[from] = given.given == 0;
  if (given.given == 0) return;
  grid.comes_back(from);
  grid.in_hand.push_back({given, {context.begin(), context.end()}});
  release_if_empty(grid, from);
}

bool PreemptingDispatch::takes(std::uint32_t index, const DispatchedGrid& grid, bool stage) const {
  if (grid.waiting() == 0 || grid.is_bringing_back()) return false;
  if (parts_.sms.has_room(index, grid) == stage) return false;
  if (!stage) return true;
  if (grid.cooperative || !grid.follows_all_at(index)) return false;
  // No block is staged beside blocks that still leave.
  if (takeovers_.is_stopping(index)) return false;
  return !takes_whole_sms_ || may_stage(grid);
}

bool PreemptingDispatch::may_stage(const DispatchedGrid& grid) const {
  return !takeovers_.is_asking_for(grid.number()) && grid.waiting() > coming(grid);
}

void PreemptingDispatch::sent(std::uint32_t index, const DispatchedGrid& grid, Time now) {
  SmMirror& sm = parts_.sms[index];
  if (!takeovers_.is_stopping(index)) {
    sm.owner = grid.number();
    return;
  }
  count_use(index, now);
  sm.guest = grid.number();
  ++sm.guests;
  takeovers_.entered(index, now);
}

void PreemptingDispatch::grid_stopped(const GridReference& stopped, Time now) {
  if (!takeovers_.is_stopping(stopped.sm)) return;  // the SM was given back before
  takeovers_.entered(stopped.sm, now);
  count_use(stopped.sm, now);
  takeovers_.end(stopped.sm);
  SmMirror& sm = parts_.sms[stopped.sm];
  sm.owner = std::exchange(sm.guest, std::nullopt);
  sm.guests = 0;
}

void PreemptingDispatch::release_if_empty(const DispatchedGrid& owner, std::uint32_t index) {
  SmMirror& sm = parts_.sms[index];
  if (sm.owner == owner.number() && !takeovers_.is_stopping(index) && sm.on_chip == 0 &&
      !sm.has_staged && owner.away[index] == 0)
    sm.owner.reset();
}

}  // namespace lockstep
