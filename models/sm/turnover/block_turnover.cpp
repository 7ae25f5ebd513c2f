#include "models/sm/turnover/block_turnover.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep {

void BlockTurnover::start_grid(const GridLaunch& launch, std::span<const std::byte> payload) {
  blocks_.start_grid(launch, payload);
  l1_.drop_clean();
  ports_.marks().grid_begins(TenantId(launch.tenant));
}

void BlockTurnover::end_grid(GridId number) {
  blocks_.grid(blocks_.place_of(number)).ended = true;
  forget_ended_grids();
}

void BlockTurnover::stop_grid(const GridStop& stop, std::span<const std::byte> payload,
                              SmCycle now) {
  const std::uint8_t place = blocks_.place_of(GridId(stop.grid));
  GridSlot& grid = blocks_.grid(place);
  const bool again = grid.stopped;  // the grid was stopped before, by other means
  grid.stopped = true;
  grid.makes_room = stop.others;
  for (const BlockReference& block : take_staged([&](const auto& other) {
         return other.grid == stop.grid && grid.launch.cluster_blocks() == 1;
       }))
    ports_.tell_dispatcher(MessageKind::block_returned, block, now);
  std::vector<BlockCommand> commands(payload.size() / sizeof(BlockCommand));
  if (!commands.empty()) std::memcpy(commands.data(), payload.data(), payload.size());
  scheduler_.stop(place, commands, now);
  grid.clears = grid.clears || !again;
  tell_if_stopped(place, now);
}

void BlockTurnover::tell_if_stopped(std::uint8_t place, SmCycle now) {
  GridSlot& grid = blocks_.grid(place);
  if (!grid.clears || grid.resident_blocks > 0) return;
  grid.clears = false;
  ports_.tell_dispatcher(MessageKind::grid_stopped,
                         GridReference{grid.launch.grid, constants_.setup.index}, now);
}

void BlockTurnover::resume_grid(GridId number) {
  GridSlot& grid = blocks_.grid(blocks_.place_of(number));
  grid.stopped = grid.clears = false;
}

void BlockTurnover::give_block(GridId grid, SmCycle now) {
  const std::uint8_t place = blocks_.place_of(grid);
  if (scheduler_.exchange().gives_soon(place)) return asked_.push_back(grid);
  auto [given, payload] = scheduler_.exchange().give(place);
  if (given.given != 0) given.started = log_.left(given.block);
  ports_.tell_dispatcher(MessageKind::block_given, given, now, payload);
}

/// Gives a saved block of a cluster to the dispatcher, which keeps it until all blocks of the
/// cluster return.
void BlockTurnover::hand_over(const BlockReference& saved, SmCycle now) {
  if (blocks_.grid(blocks_.place_of(GridId(saved.grid))).launch.cluster_blocks() == 1) return;
  auto [given, payload] = scheduler_.exchange().give_of_cluster(saved);
  given.started = log_.left(given.block);
  ports_.tell_dispatcher(MessageKind::block_given, given, now, payload);
  forget_ended_grids();
}

/// Drops clean lines, as for an acquire, so that the block sees its own writes on another SM.
void BlockTurnover::adopt_block(const BlockGiven& given, std::span<const std::byte> payload,
                                SmCycle now) {
  l1_.drop_clean();
  scheduler_.exchange().adopt(given, payload, now);
  log_.started({given.block.grid, constants_.setup.index, given.block.block}, given.started);
  return_blocks(now);
}

std::uint32_t BlockTurnover::ended_by(const BlockSlot& block) const {
  if (block.progress.ended_by == BlockProgress::no_instruction) return 0;
  return blocks_.grid(block.grid).program->source_lines[block.progress.ended_by];
}

void BlockTurnover::tell_status(GridId number, SmCycle now) {
  const std::uint8_t grid = blocks_.place_of(number);
  std::vector<BlockStatus> blocks;
  for (std::uint32_t i = 0; i < constants_.parameters.blocks; ++i) {
    const BlockSlot& block = blocks_.block(BlockPlace(static_cast<std::uint8_t>(i)));
    if (!block.used || block.grid != grid) continue;
    blocks.push_back({block.index,
                      block.progress.work(now),
                      block.progress.idempotent,
                      (blocks_.page_waiters() & block.warps) != 0,
                      {},
                      ended_by(block)});
  }
  ports_.tell_dispatcher(MessageKind::status, GridReference{number.value(), constants_.setup.index},
                         now, std::as_bytes(std::span(blocks)));
}

void BlockTurnover::forget_ended_grids() {
  for (std::size_t g = 0; g < blocks_.grid_places(); ++g) {
    const auto place = static_cast<std::uint8_t>(g);
    const GridSlot& grid = blocks_.grid(place);
    if (!grid.used || !grid.ended || grid.resident_blocks + grid.blocks_in_memory > 0) continue;
    const bool is_staged = std::any_of(staged_.begin(), staged_.end(), [&](const auto& staged) {
      return staged.reference.grid == grid.launch.grid;
    });
    if (!is_staged) blocks_.forget_grid(place);
  }
}

void BlockTurnover::stage(const BlockReference& reference, std::span<const std::byte> position,
                          SmCycle now) {
  StagedBlock& staged = staged_.emplace_back(StagedBlock{reference, {}});
  if (!position.empty()) std::memcpy(&staged.at.emplace(), position.data(), sizeof(BlockPosition));
  start_staged(now);
}

void BlockTurnover::start_staged(SmCycle now) {
  while (!staged_.empty()) {
    const StagedBlock staged = staged_.front();
    const std::uint8_t grid = blocks_.place_of(GridId(staged.reference.grid));
    if (!blocks_.has_room_for(blocks_.grid(grid), {}, staged.at) || !scheduler_.may_start(now))
      return;
    staged_.pop_front();
    start_block(staged, grid, now);
  }
}

void BlockTurnover::start_block(const StagedBlock& staged, std::uint8_t grid, SmCycle now) {
  const BlockReference& reference = staged.reference;
  blocks_.count_residency(now);
  front_end_.account_stalls(now);
  choose_carve_out(blocks_.grid(grid), now);
  const BlockPlace place = blocks_.enter(reference, grid, staged.at);
  blocks_.block(place).progress.began = now;
  log_.started(reference, constants_.time_of(now));
  faultable_.block_entered(place);
  clusters_.begin(place, now);
  scheduler_.entered(place, now);
  if (const std::vector<std::byte> at = blocks_.told_position_of(reference);
      !at.empty() && !staged.at)
    ports_.tell_dispatcher(MessageKind::start_block, reference, now, at);
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) {
    printing_.forget(slot);  // the slot's last tenant may have been ended in a printf
    const SmCycle first = now + constants_.parameters.block_start.count();
    // The block may leave before its first issue.
    if (first > now + 1) front_end_.sleeping().begin(slot, first);
    front_end_.add(slot, first);
  });
}

/// Chooses, on an empty SM, the smallest carve-out that holds the grid's blocks; on a busy SM the
/// carve-out only grows.
void BlockTurnover::choose_carve_out(const GridSlot& grid, SmCycle now) {
  const SmParameters& p = constants_.parameters;
  if (p.l1.unified_bytes.count() == 0) return;
  const std::uint64_t blocks_here = blocks_per_sm(grid.block, constants_.limits);
  const std::uint64_t wanted =
      blocks_.used().blocks == 0
          ? grid.block.shared_bytes * blocks_here
          : std::max<std::uint64_t>(shared_carve_out_,
                                    blocks_.used().shared_bytes + grid.block.shared_bytes);
  std::uint64_t carve_out = p.shared.bytes.count();
  for (Bytes size : p.shared.carve_outs)
    if (size.count() >= wanted) carve_out = std::min(carve_out, size.count());
  if (carve_out == shared_carve_out_) return;
  shared_carve_out_ = static_cast<std::uint32_t>(carve_out);
  l1_.resize(static_cast<std::uint32_t>((p.l1.unified_bytes.count() - carve_out) / line_bytes),
             now);
}

void BlockTurnover::drained(WarpSlot slot, SmCycle now) {
  front_end_.remove(slot);
  const BlockPlace place(blocks_.warp(slot).block);
  if (--blocks_.block(place).warps_left == 0 && !clusters_.end(place, now))
    finish_block(place, now);
}

BlockDone BlockTurnover::leave_for_good(BlockPlace place, bool is_done, SmCycle now) {
  blocks_.count_residency(now);
  front_end_.account_stalls(now);
  const BlockSlot& block = blocks_.block(place);
  if (blocks_.grid(block.grid).program->local_bytes > 0) l1_.forget_local(block);
  scheduler_.left(place);
  const BlockWork work = block.progress.work(now);
  BlockDone done = blocks_.leave(place, is_done);
  done.work = work;
  log_done(done, now);
  return done;
}

void BlockTurnover::finish_block(BlockPlace place, SmCycle now) {
  refill(MessageKind::block_done, leave_for_good(place, true, now), now);
}

void BlockTurnover::flush_block(BlockPlace place, SmCycle now) {
  refill(MessageKind::block_flushed, leave_for_good(place, false, now), now);
}

/// Tells the dispatcher first which blocks return, so that it knows whether a staged block has
/// room.  The block that leaves is not among them: otherwise the dispatcher would hear of its
/// return before it has left.
template <class Body>
void BlockTurnover::refill(MessageKind kind, const Body& body, SmCycle now) {
  return_blocks(now);
  ports_.tell_dispatcher(kind, body, now);
  for (std::size_t g = 0; g < blocks_.grid_places(); ++g)
    tell_if_stopped(static_cast<std::uint8_t>(g), now);
  start_staged(now);
  forget_ended_grids();
}

void BlockTurnover::return_blocks(SmCycle now) {
  while (const std::optional<std::uint8_t> grid = scheduler_.next_to_return()) {
    choose_carve_out(blocks_.grid(*grid), now);
    scheduler_.begin_return(now);
  }
}

void BlockTurnover::look(SmCycle now) {
  scheduler_.look(staged_.size(), now);
  while (const std::optional<BlockPlace> place = scheduler_.take_flushed(now))
    flush_block(*place, now);
  while (const std::optional<LocalScheduler::Moved> moved = scheduler_.take_moved(now)) {
    if (moved->what == LocalScheduler::Moved::What::saved) {
      refill(MessageKind::block_saved, moved->saved, now);
      scheduler_.told();
      hand_over(moved->saved.block, now);
    }
    if (moved->what == LocalScheduler::Moved::What::dropped) {
      log_done(moved->done, now);
      refill(MessageKind::block_done, moved->done, now);
    }
  }
  return_blocks(now);
  for (const GridId grid : std::exchange(asked_, {})) give_block(grid, now);
}

bool BlockTurnover::page_came(const PageNotice& notice, SmCycle now) {
  return scheduler_.page_came(
      notice.page == all_pages ? BlockInMemory::all_keys : TlbKey::base(notice.where()), now);
}

}  // namespace lockstep
