#include "models/sm/execution/issue.hpp"

#include <bit>

#include "core/memory/kept.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/sm/front_end/issue_path.hpp"
namespace lockstep {

using isa::Category;
using isa::Instruction;

static constexpr auto commits_bulk = static_cast<std::uint16_t>(isa::ir::BulkGroupStep::commit);
static constexpr auto commits_products = static_cast<std::uint16_t>(isa::ir::WarpgroupStep::commit);

template <bool follows>
void Issue::issue_as(WarpSlot slot, SmCycle now) {
  Warp& warp = kept(blocks_.warp(slot));
  GridSlot& grid = kept(blocks_.grid_of(warp));
  ++grid.counts.issue_slots;
  if (follows && preemptible_ && front_end_.held().stopped(slot)) return issue_again(slot, now);
  const std::uint32_t pc = warp.paths.pc();
  const Instruction& instruction = grid.instructions[pc];
  const IssueRecord& record = warp.records[pc];
  if (fetches_ && !fetched(slot, grid, pc, now)) [[unlikely]]
    return front_end_.refuse(slot, record, StallCause::fetch);
  const std::uint32_t active = ResidentBlocks::active_lanes(warp, grid, instruction);

  if ((record.flags & IssueRecord::ordered_before) && !in_order(slot, instruction, record, now))
      [[unlikely]]
    return;
  if (follows && preemptible_ && refused(slot, grid, pc, record, active)) return;
  front_end_.issued(slot, record, now);
  if (follows && reads_late_) read_operands(slot, grid.issue->precise, pc, now);
  grid.counts.warp_instructions += record.issue_slots;
  grid.counts.thread_instructions += static_cast<std::uint64_t>(std::popcount(active));
  if (follows && follows_blocks_) count(warp, grid, pc, record, active);

  if (record.flags & IssueRecord::plain) [[likely]] {
    if (active != 0) execute(warp, grid, instruction, record, active, now);
    front_end_.commit_at(slot, warp, record, now + record.latency);
  } else if (record.flags & IssueRecord::shared_only) {
    if (active == ~std::uint32_t{0} && (record.flags & IssueRecord::word_load)) {
      shared_.load_words(slot, instruction, record, now);
    } else if (active != 0) {
      shared_.issue(slot, instruction, record, active, blocks_.row_of(warp, instruction.source[0]),
                    instruction.offset, true, now);
    }
  } else {
    switch (instruction.category) {
      case Category::load:
      case Category::store:
      case Category::atomic:
      case Category::prefetch:
      case Category::copy:
        if (isa::moves_matrices(instruction)) [[unlikely]]
          return access_matrices(slot, instruction, record, active, now);
        if (active != 0 &&
            memory_.issue(slot, instruction, record, active,
                          follows ? follow(slot, grid, pc, now) : FaultableAccesses::none, now))
            [[unlikely]] {
          front_end_.suspend(slot);  // an acquire: the warp goes on when its value is there
          warp.paths.advance();
          return;
        }
        break;
      case Category::bulk_copy:
        if (active != 0 && isa::BulkCopyForm::unpack(instruction.target).step ==
                               isa::ir::BulkCopyStep::send) [[unlikely]] {
          remote_.issue_copies(slot, instruction, active, now);
        } else if (active != 0) {
          bulk_.begin(slot, instruction, record, active, now);
        }
        break;
      case Category::async_store:
        if (active != 0) remote_.issue_async(slot, instruction, active, now);
        break;
      case Category::bulk_group:
        if (active != 0 && instruction.detail == commits_bulk) bulk_.commit(slot);
        break;
      case Category::warpgroup_product:
        return warpgroups_.multiply(slot, instruction, active, now);
      case Category::warpgroup_step:
        if (active != 0 && instruction.detail == commits_products) warpgroups_.commit(slot);
        break;
      case Category::register_limit:
        break;
      case Category::arithmetic:
        if ((instruction.flags & isa::flag_needs_all_lanes) == 0)
          return execute_through(slot, instruction, record, active, now);
        [[fallthrough]];
      case Category::phase_wait:
        return mbarriers_.wait(slot, instruction, record, active, now);
      case Category::shuffle_vote:
      case Category::warp_barrier:
        return control_.execute_together(slot, instruction, record, active, now);
      case Category::grid_dependency:
        if (active != 0) dependencies_.issue(slot, instruction, now);
        break;
      default:
        return control_.issue(slot, instruction, record, active, now);
    }
  }
  warp.paths.advance();
  front_end_.evaluate(slot, warp, now);
}

/// ldmatrix and stmatrix are instructions of a whole warp.
void Issue::access_matrices(WarpSlot slot, const Instruction& instruction,
                            const IssueRecord& record, std::uint32_t active, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  if (active != 0) {
    const std::uint32_t together = control_.gather(slot, isa::whole_warp, now);
    if (together == 0) return;
    const std::uint32_t lanes = blocks_.guarded(warp, instruction, together);
    memory_.issue(slot, instruction, record, lanes, FaultableAccesses::none, now);
  }
  warp.paths.advance();
  front_end_.evaluate(slot, warp, now);
}

template void Issue::issue_as<false>(WarpSlot, SmCycle);
template void Issue::issue_as<true>(WarpSlot, SmCycle);

inline bool Issue::fetched(WarpSlot slot, GridSlot& grid, std::uint32_t pc, SmCycle now) {
  return (!code_.on() || code_.has(slot, grid.issue->code_lines[pc], now)) &&
         constant_cache_.has_parameters(slot, grid, now);
}

bool Issue::in_order(WarpSlot slot, const Instruction& instruction, const IssueRecord& record,
                     SmCycle now) {
  const auto wait_unless = [&](bool passes, StallCause cause) {
    if (!passes) front_end_.refuse(slot, record, cause);
    return passes;
  };
  switch (instruction.category) {
    case Category::copy_group:
      return are_copies_through(slot, instruction, record, now);
    case Category::bulk_copy:
      return wait_unless(bulk_.has_room_for(slot), StallCause::async_copy);
    case Category::bulk_group:
      return wait_unless(bulk_.is_through(slot, instruction), StallCause::async_copy);
    case Category::warpgroup_product:
      return wait_unless(warpgroups_.has_room_for(slot, now), StallCause::wgmma);
    case Category::warpgroup_step:
      return wait_unless(warpgroups_.is_through(slot, instruction.target, now), StallCause::wgmma);
    case Category::register_limit:
      return wait_unless(warpgroups_.set_registers(slot, instruction, now), StallCause::registers);
    case Category::grid_dependency:
      return wait_unless(dependencies_.has_passed(slot, instruction), StallCause::fence);
    default:
      return wait_unless(blocks_.released(slot), StallCause::fence);
  }
}

bool Issue::are_copies_through(WarpSlot slot, const Instruction& wait, const IssueRecord& record,
                               SmCycle now) {
  const bool uncommitted_too =
      wait.detail != static_cast<std::uint16_t>(isa::ir::CopyGroupStep::wait);
  const SmCycle through =
      blocks_.under_way().copies().through(slot, wait.target, uncommitted_too, now);
  if (through <= now) return true;
  front_end_.refuse(slot, record, StallCause::async_copy);
  if (through != no_cycle) front_end_.tell_at(slot, WarpEvent::copies_came, through);
  return false;
}

inline bool Issue::refused(WarpSlot slot, const GridSlot& grid, std::uint32_t pc,
                           const IssueRecord& record, std::uint32_t active) {
  const PreciseRecord& precise = grid.issue->precise[pc];
  // An access without lanes takes no entry, and must not be woken in place of one with lanes.
  const unsigned asks =
      PreciseRecord::waits_for_checks | (active != 0 ? unsigned{PreciseRecord::may_fault} : 0u);
  if ((precise.flags & asks) == 0) return false;
  const auto cause = faultable_.refusal(slot, precise);
  if (cause) front_end_.refuse(slot, record, *cause);
  return cause.has_value();
}

void Issue::issue_again(WarpSlot slot, SmCycle now) {
  const std::uint16_t member = faultable_.next_again(slot);
  const Warp& warp = blocks_.warp(slot);
  // A younger access may have turned up in the load-store unit.
  if (member == FaultableAccesses::none) return front_end_.stop(slot);
  front_end_.issued(slot, warp.records[faultable_[member].pc], now);
  load_store_.issue_again(member, now);
}

inline void Issue::count(Warp& warp, const GridSlot& grid, std::uint32_t pc,
                         const IssueRecord& record, std::uint32_t active) {
  BlockProgress& progress = blocks_.block_of(warp).progress;
  progress.count(record.issue_slots, static_cast<std::uint64_t>(std::popcount(active)));
  if (active != 0 && grid.ends_idempotence[pc]) progress.end_idempotence(pc);
}

void Issue::read_operands(WarpSlot slot, const std::vector<PreciseRecord>& records,
                          std::uint32_t pc, SmCycle now) {
  std::uint32_t at = pc;
  do {
    const PreciseRecord& record = records[at];
    if ((record.flags & PreciseRecord::reads_late) == 0 || record.source_count == 0) return;
    front_end_.held().begin_read(slot, record);
    front_end_.tell_at(slot, WarpEvent::operands_read,
                       now + constants_.parameters.operand_read.count() + 1);
    at = record.more;
  } while (at != 0);
}

inline std::uint16_t Issue::follow(WarpSlot slot, const GridSlot& grid, std::uint32_t pc,
                                   SmCycle now) {
  if (!preemptible_ || (grid.issue->precise[pc].flags & PreciseRecord::may_fault) == 0)
    return FaultableAccesses::none;
  return faultable_.begin(slot, pc, now);
}

inline void Issue::execute(const Warp& warp, const GridSlot& grid, const Instruction& instruction,
                           const IssueRecord& record, std::uint32_t active, SmCycle now) const {
  isa::WarpContext context = blocks_.context_of(warp, grid);
  context.active = active;
  context.path = warp.paths.mask();
  if (record.flags & IssueRecord::reads_identity) [[unlikely]] {
    const isa::WarpIdentity identity = identity_of(warp, now);
    context.identity = &identity;
    instruction.execute(instruction, context);
  } else {
    instruction.execute(instruction, context);
  }
}

/// Executes an instruction that has branches inside, such as a division: the warp goes on only when
/// it ends.
void Issue::execute_through(WarpSlot slot, const Instruction& instruction,
                            const IssueRecord& record, std::uint32_t active, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  if (active != 0) execute(warp, blocks_.grid_of(warp), instruction, record, active, now);
  front_end_.commit_at(slot, warp, record, now + record.latency);
  warp.paths.advance();
  if (active == 0 || !warp.paths.runnable()) return front_end_.evaluate(slot, warp, now);
  front_end_.resume_at(slot, now + record.latency);
}

isa::WarpIdentity Issue::identity_of(const Warp& warp, SmCycle now) const {
  const GridSlot& grid = blocks_.grid_of(warp);
  isa::WarpIdentity identity;
  identity.block_size = grid.launch.threads;
  identity.grid_size = grid.launch.blocks;
  identity.block_index = blocks_.block_of(warp).coordinates;
  identity.warp_in_block = warp.warp_in_block;
  identity.sm = constants_.setup.index;
  identity.warp_slot = blocks_.slot_of(warp).value();
  identity.sm_count = constants_.parameters.count;
  identity.warp_slots = constants_.parameters.warps;
  identity.grid_id = grid.launch.grid;
  identity.dynamic_shared_bytes = grid.launch.dynamic_shared_bytes;
  for (std::size_t axis = 0; axis < 3; ++axis)
    identity.cluster_size[axis] = grid.launch.cluster[axis];
  identity.is_explicit_cluster = grid.launch.explicit_cluster != 0;
  identity.static_shared_bytes = grid.program->static_shared_bytes;
  identity.clock_cycles = static_cast<std::uint64_t>(now.value());
  identity.global_time_ns =
      static_cast<std::uint64_t>(constants_.time_of(now).femtoseconds() / 1'000'000);
  return identity;
}

}  // namespace lockstep
