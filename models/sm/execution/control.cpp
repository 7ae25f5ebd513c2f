#include "models/sm/execution/control.hpp"

#include <algorithm>
#include <bit>

#include "models/isa/indirect_targets.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/matrix/counted_types.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/sm/front_end/issue_path.hpp"
namespace lockstep {

using isa::Category;
using isa::Instruction;

namespace {

std::uint64_t lane_value(const isa::WarpContext& context, isa::Operand operand, unsigned lane,
                         bool wide) {
  const std::uint32_t* row = context.row(operand);
  if (!wide) return row[lane];
  return std::uint64_t{row[2 * lane]} | std::uint64_t{row[2 * lane + 1]} << 32;
}

std::int64_t sleep_cycles(const isa::WarpContext& context, const Clock& clock,
                          const Instruction& instruction, std::uint32_t active) {
  constexpr std::uint64_t longest = 1'000'000;
  std::uint64_t nanoseconds = 0;
  for (; active != 0; active &= active - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(active));
    nanoseconds = std::max(nanoseconds, lane_value(context, instruction.source[0], lane, false));
  }
  const Time asleep{static_cast<std::int64_t>(std::min(nanoseconds, longest)) * 1'000'000};
  return clock.cycle_at_or_after(asleep).count();
}

/// Returns whether the instruction's lanes go on at another place.
bool jumps(Category category) {
  return category == Category::branch || category == Category::branch_indexed ||
         category == Category::call || category == Category::call_indirect ||
         category == Category::ret;
}

/// Counts a product. Tensor units do not see forms that their generation lacks.
void count_product(GridCounts& counts, const Instruction& product, const IssueRecord& record) {
  const isa::MatrixForm form = isa::unpack_form(product.target);
  ++counts.matrix_instructions[isa::counted_type(form.a)];
  if (record.unit == static_cast<std::uint8_t>(isa::Unit::tensor))
    counts.tensor_cycles += record.interval;
}

}  // namespace

ControlUnit::Arms ControlUnit::branch_targets(const Warp& warp, const Instruction& instruction,
                                              std::uint32_t active) const {
  const isa::WarpContext context = blocks_.context_of(warp);
  return isa::branch_arms(
      blocks_.grid_of(warp).program->branch_tables[instruction.target], active,
      [&](unsigned lane) { return lane_value(context, instruction.source[0], lane, false); },
      [&](unsigned lane, const auto& what, const char* advice) {
        mistakes_.user_error(warp, warp.paths.pc(), lane, what, advice);
      });
}

ControlUnit::Arms ControlUnit::called_functions(const Warp& warp, const Instruction& instruction,
                                                std::uint32_t active) const {
  const isa::WarpContext context = blocks_.context_of(warp);
  const bool wide = (instruction.flags & isa::flag_address_wide) != 0;
  return isa::call_arms(
      blocks_.grid_of(warp).program->function_entries, active,
      [&](unsigned lane) { return lane_value(context, instruction.source[0], lane, wide); },
      [&](unsigned lane, const auto& what, const char* advice) {
        mistakes_.user_error(warp, warp.paths.pc(), lane, what, advice);
      });
}

static bool commits_copies(const Instruction& instruction) {
  using isa::ir::CopyGroupStep;
  const auto step = static_cast<CopyGroupStep>(instruction.detail);
  return step == CopyGroupStep::commit || step == CopyGroupStep::wait_all;
}

void ControlUnit::issue(WarpSlot slot, const Instruction& instruction, const IssueRecord& record,
                        std::uint32_t active, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  isa::WarpPaths& paths = warp.paths;
  const std::uint32_t pc = paths.pc(), mask = paths.mask();
  SmCycle resume = now + record.latency;
  const std::int64_t taken = constants_.parameters.latency.taken_branch.count();
  if (taken != 0 && active != 0 && jumps(instruction.category)) resume = now + taken;
  if ((instruction.flags & isa::flag_preemption_point) != 0) [[unlikely]]
    ++statistics_.tenant[warp.tenant]
          .points_passed[instruction.category == Category::barrier ? 1 : 0];
  switch (instruction.category) {
    case Category::branch:
      ++statistics_.tenant[warp.tenant].branches;
      if (active != 0 && active != mask) ++statistics_.tenant[warp.tenant].divergent_branches;
      if (taken == 0 && active == 0) resume = now + 1;
      if ((instruction.flags & isa::flag_decides_wait) != 0) [[unlikely]] {
        paths.branch_of_wait(blocks_.grid_of(warp).instructions, active);
        mistakes_.warn_of_absent(warp, now);
      } else {
        paths.branch(active, instruction.target, instruction.reconvergence);
      }
      if (paths.backward_branches() >= isa::backward_branch_limit) [[unlikely]]
        mistakes_.user_error(warp, pc, static_cast<unsigned>(std::countr_zero(mask)),
                             "ten million backward branches without a lane leaving the loop",
                             paths.takes_turns()
                                 ? "the loop waits for what no other thread does, or never ends"
                                 : isa::no_turns_advice);
      break;
    case Category::branch_indexed: {
      ++statistics_.tenant[warp.tenant].branches;
      auto arms = branch_targets(warp, instruction, active);
      if (active != mask) arms.push_back({pc + 1, mask & ~active});
      paths.branch(arms, instruction.reconvergence);
      break;
    }
    case Category::call:
      ++statistics_.tenant[warp.tenant].branches;
      if (active == 0) {
        paths.advance();
      } else {
        paths.call(active, instruction.target);
      }
      break;
    case Category::call_indirect:
      ++statistics_.tenant[warp.tenant].branches;
      if (active == 0) {
        paths.advance();
      } else {
        paths.call(called_functions(warp, instruction, active));
      }
      break;
    case Category::ret:
      ++statistics_.tenant[warp.tenant].branches;
      end_lanes(
          warp, [&] { paths.ret(active); }, active, now);
      break;
    case Category::exit:
      end_lanes(
          warp, [&] { paths.exit(active); }, active, now);
      break;
    case Category::trap:
      if (active != 0)
        mistakes_.trapped(warp, instruction, static_cast<unsigned>(std::countr_zero(active)));
      paths.advance();
      break;
    case Category::print:
      if (active != 0) printing_.execute(slot, instruction, active, now);
      front_end_.commit_at(slot, warp, record, resume);
      paths.advance();
      break;
    case Category::barrier:
      if (active == 0) {
        paths.advance();
        break;
      }
      barriers_.arrive(slot, instruction, active, now);
      return;
    case Category::cluster_barrier:
      cluster_barriers_.issue(slot, instruction, record, active, now);
      return;
    case Category::copy_group:
      if (active != 0 && commits_copies(instruction))
        blocks_.under_way().copies().commit(slot, active == paths.alive(), now);
      paths.advance();
      break;
    case Category::fence:
      if (active == 0) {
        paths.advance();
        resume = now + 1;
        break;
      }
      fence(slot, warp, record, now);
      return;
    case Category::sleep:
      resume = now + std::max<std::int64_t>(1, sleep_cycles(blocks_.context_of(warp),
                                                            constants_.clock, instruction, active));
      paths.advance();
      if (paths.runnable()) front_end_.sleeping().begin(slot, resume);
      break;
    default:
      paths.advance();
      resume = now + 1;
  }
  if (paths.runnable()) {
    front_end_.resume_at(slot, resume);
  } else {
    front_end_.evaluate(slot, warp, now);
  }
}

/// An acquire drops the SM's clean global sectors and keeps pending fills from being cached; a
/// release has waited already.
void ControlUnit::fence(WarpSlot slot, Warp& warp, const IssueRecord& record, SmCycle now) {
  if (record.flags & (IssueRecord::ordered_before | IssueRecord::ordered_after))
    ++statistics_.tenant[warp.tenant].fences;
  if (record.flags & IssueRecord::ordered_after) l1_.drop_clean();
  warp.paths.advance();
  front_end_.resume_at(slot, now + record.latency);
}

template <class End>
void ControlUnit::end_lanes(Warp& warp, End&& end, std::uint32_t active, SmCycle now) {
  if (active == 0) {
    warp.paths.advance();
    return;
  }
  const int before = std::popcount(warp.paths.alive());
  end();
  const int gone = before - std::popcount(warp.paths.alive());
  if (gone == 0) return;
  BlockSlot& block = blocks_.block_of(warp);
  block.alive_threads -= static_cast<std::uint32_t>(gone);
  for (std::uint32_t left = block.gathering; left != 0; left &= left - 1)
    barriers_.check(BlockPlace(warp.block), static_cast<unsigned>(std::countr_zero(left)), now);
  cluster_barriers_.threads_ended(BlockPlace(warp.block), now);
}

std::uint32_t ControlUnit::gather(WarpSlot slot, std::uint32_t members, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const std::uint32_t together = warp.paths.arrive(members);
  if (together != 0) return together;
  // The current path waits for the others; another path may have become current.
  if (warp.paths.runnable()) {
    front_end_.resume_at(slot, now + 1);
  } else {
    front_end_.evaluate(slot, warp, now);
  }
  return 0;
}

void ControlUnit::execute_together(WarpSlot slot, const Instruction& instruction,
                                   const IssueRecord& record, std::uint32_t active, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  if (active == 0) {
    warp.paths.advance();
    front_end_.evaluate(slot, warp, now);
    return;
  }
  isa::WarpContext context = blocks_.context_of(warp);
  // The member mask stands in the last valid source.
  const auto first = static_cast<unsigned>(std::countr_zero(active));
  std::uint32_t members = 0xffffffff;
  for (isa::Operand operand : isa::sources_of(*blocks_.grid_of(warp).issue, instruction))
    if (operand.valid()) members = context.row(operand)[first];
  const std::uint32_t together = gather(slot, members, now);
  if (together == 0) return;
  if (!warp.paths.is_named(members, first)) mistakes_.warn_of_absent(warp, now);
  if (instruction.execute != nullptr) {
    const std::uint32_t lanes = blocks_.guarded(warp, instruction, together);
    if (isa::needs_whole_warp(instruction)) [[unlikely]]
      mistakes_.require_whole_warp(warp, instruction, lanes);
    context.active = lanes;
    context.path = together;
    instruction.execute(instruction, context);
    if (instruction.opcode == isa::Opcode::mma) [[unlikely]]
      count_product(blocks_.counts(warp.grid), instruction, record);
  }
  front_end_.commit_at(slot, warp, record, now + record.latency);
  warp.paths.advance();
  front_end_.evaluate(slot, warp, now);
}

}  // namespace lockstep
