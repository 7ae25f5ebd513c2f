#include "models/dispatch/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/noc/cluster_messages.hpp"

namespace lockstep {

/// Returns where an SM has put a block, if places matter.
static std::optional<BlockPosition> position_in(const MessageHeader& message) {
  if (message.payload().empty()) return std::nullopt;
  BlockPosition position;
  std::memcpy(&position, message.payload().data(), sizeof position);
  return position;
}

Dispatcher::Dispatcher(Setup setup)
    : parameters_(setup.parameters),
      topology_(setup.topology),
      limits_(setup.limits),
      instructions_(std::move(setup.instructions)),
      modules_(std::move(setup.modules)),
      clock_(setup.parameters.clock),
      sharing_(make_sharing(setup.sharing, setup.machine)),
      to_host_(setup.to_host),
      to_sms_(std::move(setup.to_sms)),
      sms_(to_sms_.size(), limits_,
           placement_for(setup.preemption, sharing_->in_parts(), limits_.placement)),
      executed_(setup.machine.sms_per_tenant.size()),
      preempting_(
          {setup.preemption, setup.preemption_machine, std::move(setup.latency_bounds),
           to_sms_.size(), sharing_->slice(), sharing_->in_parts(), std::move(setup.block_profile)},
          {grids_, sms_, to_sms_, limits_, topology_}, statistics_),
      preempts_(preempting_.takeovers().steps().take.has_value()),
      in_parts_(sharing_->in_parts() && preempts_),
      partial_({grids_, sms_, to_sms_, limits_, preempting_.takeovers()}),
      gangs_(grids_, sms_),
      cluster_places_(grids_, sms_, topology_),
      dependents_(grids_, !preempts_ && !setup.switches_blocks) {
  set_tenants(statistics_, setup.machine.sms_per_tenant.size());
  told_.resize(setup.machine.sms_per_tenant.size());
}

Time Dispatcher::next_activity() const {
  return wake_;
}

void Dispatcher::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  for (;;) {
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time now = std::min(arrival, wake_);
    if (now >= horizon) break;
    if (arrival <= wake_) {
      take(*inbox[next++], outbox);
      wake_ = std::max(next_dispatch_, clock_.edge(clock_.cycle_at_or_after(now)));
    } else if (const std::uint32_t blocks = dispatch_one(now, outbox); blocks > 0) {
      next_dispatch_ = now + until_next_block(blocks, now);
      wake_ = next_dispatch_;
    } else {
      sleep_until_ready(now);
    }
  }
}

/// Returns the time until the next block. GPCs dispatch in turn, at whole cycles. Time lost by
/// rounding a turn up to a whole cycle is credited to the next block.
Time Dispatcher::until_next_block(std::uint32_t blocks, Time now) {
  if (now > next_dispatch_) beyond_turn_ = Time::zero();
  const std::int64_t interval = clock_.duration(parameters_.block_interval).femtoseconds();
  const Time turn = Time{interval * blocks / topology_.clusters()} - beyond_turn_;
  const Time whole = clock_.duration(clock_.cycle_at_or_after(turn));
  beyond_turn_ = whole - turn;
  return whole;
}

/// Sleeps after no SM has taken a block: only a message, or a grid that becomes ready, can help.
void Dispatcher::sleep_until_ready(Time now) {
  wake_ = grids_.empty() ? Time::never() : preempting_.next_limit();
  for (const Grid& grid : grids_) {
    if (grid.ready > now)
      wake_ = std::min(wake_, clock_.edge(clock_.cycle_at_or_after(grid.ready)));
  }
}

void Dispatcher::take(const MessageHeader& message, Outbox& outbox) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::launch_grid:
      accept_grid(message.body<GridLaunch>(), message.payload(), message.arrival);
      break;
    case MessageKind::block_done:
      block_done(message.body<BlockDone>(), message.arrival, outbox);
      break;
    case MessageKind::block_lets_go:
      dependents_.let_go(*grids_.at(message.body<BlockReference>().grid));
      break;
    case MessageKind::stores_done:
      stores_done(message.body<GridReference>(), message.arrival, outbox);
      break;
    case MessageKind::block_saved:
      block_saved(message.body<BlockSaved>(), message.arrival);
      break;
    case MessageKind::block_restored:
      block_restored(message);
      break;
    case MessageKind::block_settled:
      PreemptingDispatch::settled(*grids_.at(message.body<BlockReference>().grid),
                                  message.body<BlockReference>().block);
      break;
    case MessageKind::start_block:
      block_started(message);
      break;
    case MessageKind::block_flushed:
      block_flushed(message.body<BlockDone>(), message.arrival, outbox);
      break;
    case MessageKind::status:
      preempting_.status(message, outbox);
      break;
    case MessageKind::grid_stopped:
      preempting_.grid_stopped(message.body<GridReference>(), message.arrival);
      break;
    case MessageKind::block_given:
      block_given(message, outbox);
      break;
    case MessageKind::context_free:
    case MessageKind::homes_free: {
      const auto& free = message.body<ContextPlace>();
      outbox.send(to_sms_[free.sm], message.arrival, message.kind, free, message.payload());
      break;
    }
    case MessageKind::block_returned:
      block_returned(message.body<BlockReference>(), message.arrival, outbox);
      break;
    case MessageKind::abort_tenant:
      abort_tenant(TenantId{message.body<TenantNotice>().tenant}, message.arrival, outbox);
      break;
    default:
      LOCKSTEP_CHECK(false, "the dispatcher got a message of kind " + std::to_string(message.kind));
  }
}

void Dispatcher::accept_grid(const GridLaunch& launch, std::span<const std::byte> payload,
                             Time now) {
  const isa::Program& program = modules_[launch.module]->kernels[launch.kernel].lowered;
  Grid grid;
  grid.launch = launch;
  grid.blocks = launch.block_count();
  grid.payload.assign(payload.begin(), payload.end());
  grid.block = block_resources(program, launch.threads_per_block(), launch.dynamic_shared_bytes,
                               limits_, launch.registers);
  const std::string problem = why_block_does_not_fit(grid.block, limits_);
  if (!problem.empty()) {
    throw UserError("kernel " + isa::kernel_title(program.name), problem,
                    "make the block or its needs smaller");
  }
  grid.cooperative = modules_[launch.module]->meets_grid_wide(program);
  grid.block_share = grid.block.dominant_share(limits_);
  grid.ready = std::max(now, begin_of(launch, now) + clock_.duration(parameters_.launch_latency));
  grid.known_at.assign(sms_.size(), false);
  grid.stopped_at.assign(sms_.size(), false);
  grid.away.assign(sms_.size(), 0);
  grid.asked.assign(sms_.size(), false);
  grid.keeps.assign(sms_.size(), false);
  grid.arriving.assign(sms_.size(), 0);
  grid.served.assign(sms_.size(), false);
  grid.latest.assign(sms_.size(), 0);
  grid.launched_before = statistics_.grids[launch.tenant].value();
  statistics_.count_points(program, launch.tenant);
  dependents_.accept(grid);
  grids_.push_back(std::move(grid));
  ++statistics_.grids[launch.tenant];
}

/// Returns the begin of a launch.  The host keeps it until the launch before has ended; by then the
/// front end of the GPU has fetched it.
Time Dispatcher::begin_of(const GridLaunch& launch, Time now) const {
  if (!parameters_.launch_overlap || launch.queued == 0) return now;
  const auto end = ends_.find({launch.tenant, launch.stream});
  return end == ends_.end() ? now : end->second;
}

/// Frees the place of a block. A staged block is freed when its tenant was ended before it started.
void Dispatcher::place_is_free(Grid& grid, const PreemptionRecord& record, std::uint8_t keeps) {
  const BlockReference& block = record.block;
  PreemptingDispatch::settled(grid, block.block);
  preempting_.left(record);
  if (sms_.is_staged(block)) {
    sms_.unstage(block.sm);
  } else {
    sms_.vacate(block.sm, grid, block.block, keeps);
  }
  sms_.start_staged(block.sm);
  if (in_parts_) partial_.left(block.sm, record.released);
  preempting_.release_if_empty(grid, block.sm);
}

void Dispatcher::block_saved(const BlockSaved& saved, Time now) {
  const auto grid = grids_.at(saved.block.grid);
  PreemptionRecord record(saved.block, Technique::save, now);
  record.bytes = saved.bytes;
  record.parts = saved.parts;
  record.stopped = saved.stopped;
  // The hub's message about the cluster frees the place.
  if (grid->cluster_blocks() > 1)
    preempting_.takeovers().saved(grid->launch, saved, now);
  else
    preempting_.saved(*grid, saved, now);
  place_is_free(*grid, record, saved.keeps);
}

void Dispatcher::block_restored(const MessageHeader& message) {
  const auto& block = message.body<BlockReference>();
  const auto grid = grids_.at(block.grid);
  // A block of a cluster returns to a place kept for it.
  const bool in_cluster = grid->cluster_blocks() > 1;
  if (!in_cluster) sms_.occupy(block.sm, *grid, block.block, position_in(message));
  if (!grid->aborted) preempting_.takeovers().returned(block.grid, block.block, message.arrival);
  if (in_cluster) {
    --grid->coming_back;
  } else {
    if (grid->arriving[block.sm] > 0) --grid->arriving[block.sm];
    grid->comes_back(block.sm);
  }
  preempting_.returned(*grid, block.block);
}

void Dispatcher::block_started(const MessageHeader& message) {
  const auto& block = message.body<BlockReference>();
  sms_.unstage(block.sm);
  sms_.occupy(block.sm, *grids_.at(block.grid), block.block, position_in(message));
}

void Dispatcher::block_given(const MessageHeader& message, Outbox& outbox) {
  const auto& given = message.body<BlockGiven>();
  const auto grid = grids_.find(given.block.grid);
  // The grid ended before an SM answered that it has no block to give.
  if (grid == grids_.end()) return;
  if (grid->cluster_blocks() > 1)
    keep_of_cluster(*grid, given, message.payload());
  else
    preempting_.given(*grid, given, message.payload());
  if (given.given == 0) return;
  grid->executed += given.executed;
  count(TenantId{grid->launch.tenant}, given.executed, message.arrival, outbox);
  if (grid->aborted) drop_in_hand(grid, message.arrival, outbox);
}

/// The blocks in hand are done, as blocks are that end in an SM with their tenant.
void Dispatcher::drop_in_hand(GridPlace grid, Time now, Outbox& outbox) {
  for (const BlockInHand& one : grid->in_hand) {
    one.give_back(to_sms_[one.block.block.sm], now, outbox);
    --grid->running;
    ++grid->done;
    ++statistics_.blocks_done[grid->launch.tenant];
  }
  grid->in_hand.clear();
  drop_saved_clusters(*grid, now, outbox);
  if (grid->is_over()) finish_grid(grid, now, outbox);
}

void Dispatcher::block_done(const BlockDone& done, Time now, Outbox& outbox) {
  const BlockReference& block = done.block;
  const auto grid = grids_.at(block.grid);
  place_is_free(*grid, {block, Technique::drain, now});
  preempting_.finished(*grid, block.sm, done.work);
  --grid->running;
  ++grid->done;
  if (done.had_let_go == 0) dependents_.let_go(*grid);
  grid->draining += done.leaves_stores != 0;
  ++statistics_.blocks_done[grid->launch.tenant];
  grid->executed += done.executed;
  count(TenantId{grid->launch.tenant}, done.executed, now, outbox);
  if (grid->is_over()) finish_grid(grid, now, outbox);
}

void Dispatcher::stores_done(const GridReference& reference, Time now, Outbox& outbox) {
  const auto grid = grids_.at(reference.grid);
  --grid->draining;
  if (grid->is_over()) finish_grid(grid, now, outbox);
}

void Dispatcher::abort_tenant(TenantId tenant, Time now, Outbox& outbox) {
  for (Link& link : to_sms_)
    outbox.send(link, now, kind_of(MessageKind::abort_tenant), TenantNotice{tenant.value(), {}});
  for (std::size_t i = 0; i < grids_.size();) {
    Grid& grid = grids_[i];
    if (grid.launch.tenant == tenant.value()) {
      grid.aborted = true;
      grid.blocks = grid.next_block -= grid.returned.size();
      grid.returned.clear();
      const std::size_t before = grids_.size();
      drop_in_hand(grids_.begin() + static_cast<std::ptrdiff_t>(i), now, outbox);
      if (grids_.size() < before) continue;
    }
    ++i;
  }
}

void Dispatcher::count(TenantId tenant, const InstructionCount& executed, Time now,
                       Outbox& outbox) {
  InstructionCount& sum = executed_[tenant.value()];
  const std::uint64_t before = sum.warp, limit = instructions_[tenant.value()];
  sum += executed;
  if (before >= limit || sum.warp < limit) return;
  outbox.send(to_host_, now, kind_of(MessageKind::instructions_reached),
              TenantProgress{tenant.value(), {}, sum});
}

void Dispatcher::finish_grid(GridPlace place, Time now, Outbox& outbox) {
  const Grid& grid = *place;
  const GridReference reference{grid.number(), 0};
  const GridDone done{grid.number(), 0, grid.executed};
  outbox.send(to_host_, now, kind_of(MessageKind::grid_done), done);
  for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
    if (grid.known_at[sm]) outbox.send(to_sms_[sm], now, kind_of(MessageKind::end_grid), reference);
    // The SM may have been given back with no block left for it.
    preempting_.release_if_empty(grid, sm);
  }
  ++statistics_.grids_done[grid.launch.tenant];
  note_end(grid.launch, now);
  grids_.erase(place);
  const GridPlace dependent = dependents_.of(reference.grid);
  if (dependent == grids_.end()) return;
  Dependents::primary_is_over(*dependent, to_sms_, now, outbox);
  if (dependent->is_over()) finish_grid(dependent, now, outbox);
}

void Dispatcher::refresh_views(Time now) {
  views_.clear();
  for (const Grid& grid : grids_) {
    views_.push_back({GridId{grid.launch.grid}, TenantId{grid.launch.tenant}, grid.launch.priority,
                      grid.ready <= now && !grid.is_held, grid.waiting(), grid.running,
                      grid.block_share, grid.launch.primary});
  }
}

std::uint32_t Dispatcher::dispatch_one(Time now, Outbox& outbox) {
  if (const std::optional<std::size_t> gang = gangs_.gathering())
    return gather(grids_[*gang], now, outbox) ? 1 : 0;
  waits_.reset();
  clusters_wait_.clear();
  refresh_views(now);
  if (in_parts_)
    partial_.make_room(views_, now, outbox);
  else
    preempting_.make_room(views_, now, outbox);
  if (!preempts_ && std::ranges::none_of(views_, &GridView::offers_blocks)) return 0;
  const auto count = sms_.size();
  const std::array<std::array<std::uint32_t, 2>, 2> turn = {{{next_sm_, count}, {0, next_sm_}}};
  for (const bool stage : {false, true}) {
    for (const auto [first, end] : turn) {
      for (std::uint32_t sm = sms_.next_open(first); sm < end; sm = sms_.next_open(sm + 1)) {
        if (const std::uint32_t blocks = dispatch_to(sm, stage, now, outbox); blocks > 0) {
          next_sm_ = sm + 1;
          return blocks;
        }
      }
    }
  }
  return 0;
}

std::optional<std::size_t> Dispatcher::choose(std::uint32_t sm) {
  if (in_parts_) return partial_.choose(*sharing_, views_, sm);
  if (preempts_) return preempting_.choose(sm);
  return sharing_->choose(views_, SmId{static_cast<std::uint16_t>(sm)});
}

std::uint32_t Dispatcher::dispatch_to(std::uint32_t sm, bool stage, Time now, Outbox& outbox) {
  const std::optional<std::size_t> choice = choose(sm);
  if (!choice) return 0;
  if (has_to_wait(*choice)) return bring_back_meanwhile(sm, stage, now, outbox) ? 1 : 0;
  Grid& grid = grids_[*choice];
  if (grid.cluster_blocks() > 1) return stage ? 0 : send_cluster(*choice, sm, now, outbox);
  if (grid.cooperative && (stage || grid.reserved[sm] == 0) && grid.is_to_gather()) return 0;
  if ((!in_parts_ || PartialSwitching::resumes(grid, sm)) &&
      preempting_.resume(grid, sm, now, outbox))
    return 1;
  if (preempting_.bring_back(grid, sm, stage, now, outbox)) return 1;
  if (!preempting_.takes(sm, grid, stage)) return 0;
  send_block(grid, sm, stage, now, outbox);
  return 1;
}

bool Dispatcher::has_to_wait(std::size_t g) {
  if (!grids_[g].is_to_gather()) return false;
  if (waits_ == g) return true;
  const bool starts = gangs_.reserve(grids_[g], [&](std::uint32_t sm) { return choose(sm) == g; });
  if (!starts) waits_ = g;
  return !starts;
}

bool Dispatcher::bring_back_meanwhile(std::uint32_t sm, bool stage, Time now, Outbox& outbox) {
  if (!in_parts_) return false;
  const std::optional<std::size_t> choice =
      partial_.choose(*sharing_, views_, sm, PartialSwitching::Offer::returns);
  if (!choice) return false;
  Grid& grid = grids_[*choice];
  if (PartialSwitching::resumes(grid, sm) && preempting_.resume(grid, sm, now, outbox)) return true;
  return preempting_.bring_back(grid, sm, stage, now, outbox);
}

bool Dispatcher::gather(Grid& gang, Time now, Outbox& outbox) {
  for (std::uint32_t i = 0; i < sms_.size(); ++i) {
    const std::uint32_t sm = (next_sm_ + i) % sms_.size();
    if (gang.reserved[sm] == 0) continue;
    send_block(gang, sm, false, now, outbox);
    next_sm_ = sm + 1;
    return true;
  }
  LOCKSTEP_CHECK(false, "a gang has begun without a place for each of its blocks");
}

void Dispatcher::send_block(Grid& grid, std::uint32_t sm, bool stage, Time now, Outbox& outbox) {
  if (grid.is_to_gather() || grid.is_gathering()) --grid.reserved[sm];
  send(grid, grid.take_next(), sm, stage, now, outbox);
}

void Dispatcher::send(Grid& grid, std::uint64_t block, std::uint32_t sm, bool stage, Time now,
                      Outbox& outbox) {
  Link& link = to_sms_[sm];
  grid.introduce_at(sm, link, now, outbox);
  grid.goes_to(sm, block);
  preempting_.takeovers().returned(grid.number(), block, now);
  ++grid.running;
  ++statistics_.blocks[grid.launch.tenant];
  preempting_.sent(sm, grid, now);
  std::optional<BlockPosition> at;
  if (stage) {
    sms_.stage(sm, grid, block);
  } else {
    sms_.occupy(sm, grid, block);
    at = sms_.position_of(sm, grid, block);
  }
  outbox.send(link, now, kind_of(MessageKind::start_block),
              BlockReference{grid.number(), sm, block},
              at ? std::as_bytes(std::span(&*at, 1)) : std::span<const std::byte>{});
}

void Dispatcher::serialize(Archive& archive) {
  archive.section("dispatcher", 16);
  archive(to_host_, to_sms_, grids_, sms_, next_sm_, executed_, ends_, next_dispatch_, beyond_turn_,
          wake_, statistics_, preempting_, told_);
  sharing_->serialize(archive);
}

StatisticsView Dispatcher::statistics(Time) {
  statistics_.grids_waiting = grids_.size();
  return statistics_view(statistics_);
}

void Dispatcher::take_progress(Time, std::span<std::uint8_t> tenants) {
  for (std::size_t t = 0; t < told_.size(); ++t) {
    const std::uint64_t ended = statistics_.blocks_done[t].value() +
                                statistics_.grids_done[t].value() + statistics_.grids[t].value();
    if (std::exchange(told_[t], ended) != ended) tenants[t] |= progress::got_on;
  }
}

std::string Dispatcher::waiting_for() const {
  if (grids_.empty()) return "";
  const Grid& grid = grids_.front();
  return std::to_string(grids_.size()) + " grids; grid " + std::to_string(grid.launch.grid) +
         " of tenant " + std::to_string(grid.launch.tenant) + " has " +
         std::to_string(grid.running) + " blocks running and " + std::to_string(grid.waiting()) +
         " waiting" + dependents_.waiting_for();
}

}  // namespace lockstep
