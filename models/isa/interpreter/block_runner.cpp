#include "models/isa/interpreter/block_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>

#include "core/error/error.hpp"
#include "models/isa/barriers/named_barrier.hpp"
#include "models/isa/indirect_targets.hpp"
#include "models/isa/interpreter/cluster_runner.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/isa/text/absent_lanes.hpp"
#include "models/isa/text/assertion.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {
namespace {

/// Instructions of a warp before the next warp of its block runs.  The number is small, since in
/// hardware all warps run at once: a warp overwrites data only long after others have read them.
constexpr std::uint64_t warp_slice = 16;

std::string three(const std::array<std::uint32_t, 3>& index) {
  return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
}

std::array<std::uint32_t, 3> unfold(std::uint64_t number,
                                    const std::array<std::uint32_t, 3>& size) {
  return {static_cast<std::uint32_t>(number % size[0]),
          static_cast<std::uint32_t>(number / size[0] % size[1]),
          static_cast<std::uint32_t>(number / size[0] / size[1])};
}

/// Returns "file:line" of an instruction.
std::string place_in(const LaunchState& state, std::uint32_t pc) {
  return state.launch.module.file + ":" + std::to_string(state.program.source_lines[pc]);
}
/// Returns a beginning such as "kernel k, block (0, 0, 0), warp 0: ".
std::string title_of(const LaunchState& state, const WarpIdentity& warp) {
  return fmt::format("kernel {}, block {}, warp {}: ", kernel_title(state.program.name),
                     three(warp.block_index), warp.warp_in_block);
}

}  // namespace

WarpIdentity identity_of(const LaunchState& state, std::uint64_t block, std::uint32_t warp) {
  WarpIdentity identity;
  identity.block_size = state.launch.block;
  identity.grid_size = state.launch.grid;
  identity.block_index = unfold(block, state.launch.grid);
  identity.warp_in_block = warp;
  identity.sm_count = state.launch.machine.sms;
  identity.warp_slots = state.launch.machine.warps_of_an_sm;
  identity.warp_slot = warp;
  identity.static_shared_bytes = state.program.static_shared_bytes;
  identity.dynamic_shared_bytes = state.launch.dynamic_shared_bytes;
  identity.cluster_size = state.launch.cluster;
  identity.is_explicit_cluster = state.launch.is_explicit_cluster;
  return identity;
}

std::uint32_t lanes_of(const LaunchState& state, std::uint32_t warp) {
  const std::uint32_t lanes = std::min(state.threads - warp * warp_size, warp_size);
  return lanes == warp_size ? 0xffffffff : (1u << lanes) - 1;
}

BlockRunner::BlockRunner(LaunchState& state, ClusterRunner& cluster, std::uint64_t number,
                         std::uint32_t rank)
    : state_(state),
      cluster_(cluster),
      rank_(rank),
      warps_((state.threads + warp_size - 1) / warp_size),
      barriers_(state.program, warps_) {
  const Program& program = state.program;
  const std::size_t warps = warps_.size();
  const std::size_t rows = std::size_t{program.rows} * warp_size;
  register_file_.resize(warps * rows);
  predicate_file_.resize(warps * program.predicates);
  shared_.resize(std::size_t{program.static_shared_bytes} + state.launch.dynamic_shared_bytes);
  for (std::uint32_t w = 0; w < warps; ++w) {
    Warp& warp = warps_[w];
    warp.paths.start(lanes_of(state, w), 0, state.launch.machine.turn);
    warp.rows = register_file_.data() + w * rows;
    warp.predicates = predicate_file_.data() + std::size_t{w} * program.predicates;
    warp.identity = identity_of(state, number, w);
  }
  if (state.launch.races != nullptr) {
    races_ = std::make_unique<SharedRaces>(number, static_cast<std::uint32_t>(warps),
                                           *state.launch.races);
    barriers_.tell(*races_);
  }
  context_.bases[Operand::immediates] = const_cast<std::uint32_t*>(program.immediates.data());
  context_.bases[Operand::constants] = state.constants.data();
  context_.bases[Operand::scratch] = scratch_.data();
  context_.lists = program.operand_lists.data();
}

void BlockRunner::join(ClusterBarrier& barrier) {
  barrier.add(warps_, races_.get());
}

bool BlockRunner::finished() const {
  return std::ranges::all_of(warps_, [](const Warp& warp) { return warp.paths.finished(); });
}

bool BlockRunner::runnable() const {
  return std::ranges::any_of(warps_, [](const Warp& warp) { return warp.paths.runnable(); });
}

BlockRunner::Progress BlockRunner::run(std::uint64_t instructions) {
  const auto alive = [&] {
    std::uint32_t threads = 0;
    for (const Warp& warp : warps_)
      threads += static_cast<std::uint32_t>(std::popcount(warp.paths.alive()));
    return threads;
  };
  const std::uint32_t before = alive();
  const Progress progress = run_warps(instructions);
  state_.changed |= alive() != before;
  return progress;
}

BlockRunner::Progress BlockRunner::run_warps(std::uint64_t instructions) {
  const bool is_alone = cluster_.size() == 1;
  const std::uint64_t end = steps_ + instructions;
  while (steps_ < end) {
    std::uint64_t executed = 0;
    bool finished = true;
    for (std::uint32_t w = 0; w < warps_.size(); ++w) {
      if (warps_[w].paths.runnable()) executed += run_warp(w, warp_slice);
      finished &= warps_[w].paths.finished();
    }
    if (finished) return Progress::over;
    if (executed != 0) continue;
    if (!is_alone) return Progress::stuck;
    if (!unblock() && !phase_waits_.end()) report_deadlock("");
  }
  return Progress::paused;
}

std::uint64_t BlockRunner::run_warp(std::uint32_t w, std::uint64_t budget) {
  Warp& warp = warps_[w];
  WarpPaths& paths = warp.paths;
  context_.bases[Operand::registers] = warp.rows;
  context_.predicates = warp.predicates;
  context_.identity = &warp.identity;
  const Instruction* instructions = state_.program.instructions.data();
  auto* executions = state_.launch.executions ? state_.launch.executions->data() : nullptr;
  InterpreterCounts counts;
  auto& [executed, threads, slots] = counts;
  while (executed < budget) {
    if (!paths.runnable()) [[unlikely]] {
      if (!paths.unblock(instructions, false)) break;
      warn_of_absent(warp);
    }
    if (run_straight(warp, budget - executed, counts)) continue;
    const Instruction& i = instructions[paths.pc()];
    const std::uint32_t active = warp.guarded(i, paths.mask());
    ++executed;
    threads += static_cast<unsigned>(std::popcount(active));
    slots += i.issue_slots;
    if (executions != nullptr) ++executions[paths.pc()];
    warp.identity.clock_cycles = warp.identity.global_time_ns = steps_ + executed;
    if (warp.multiplies) [[unlikely]]
      warpgroups_.look_at(warp, i);
    switch (i.category) {
      case Category::arithmetic:
        if (active != 0) {
          context_.active = active;
          context_.path = paths.mask();
          i.execute(i, context_);
        }
        paths.advance();
        break;
      case Category::load:
        // The first load behind a barrier ends the turn, as if the warp waited for its data.
        if (warp.is_behind_barrier) budget = executed;
        warp.is_behind_barrier = false;
        [[fallthrough]];
      case Category::store:
        if (moves_matrices(i)) [[unlikely]] {
          matrix_access(warp, i, active);
          break;
        }
        [[fallthrough]];
      case Category::atomic:
      case Category::copy:
      case Category::bulk_copy:
      case Category::async_store:
        if (active != 0) memory(warp, i, active);
        paths.advance();
        break;
      case Category::fence:
        if (races_ && i.memory.ordering != Ordering::weak) races_->fence(w);
        proxies_.fence(i, active);
        [[fallthrough]];
      case Category::prefetch:
      case Category::bulk_group:
      case Category::copy_group:       // the interpreter copies at once
      case Category::grid_dependency:  // earlier grids have ended by now
      case Category::register_limit:
      case Category::sleep:
      case Category::nop:
        paths.advance();
        break;
      case Category::branch:
        if ((i.flags & flag_decides_wait) != 0) [[unlikely]] {
          paths.branch_of_wait(instructions, active);
          warn_of_absent(warp);
        } else {
          paths.branch(active, i.target, i.reconvergence);
        }
        if (paths.backward_branches() > backward_branch_limit) [[unlikely]]
          fail(warp, static_cast<unsigned>(std::countr_zero(paths.mask())),
               "ten million backward branches without a lane leaving the loop",
               paths.takes_turns() ? "the loop waits for what no other thread does, or never ends"
                                   : no_turns_advice);
        break;
      case Category::shuffle_vote:
      case Category::warp_barrier:
        warp_sync(warp, i, active);
        break;
      case Category::barrier:
        barrier(w, i, active);
        break;
      case Category::warpgroup_product:
        warpgroups_.multiply(warp, i, active);
        break;
      case Category::warpgroup_step:
        if (active != 0 && !warpgroups_.step(warp, i)) {
          --executed;  // the wait is executed again when other warps have run
          threads -= static_cast<unsigned>(std::popcount(active));
          slots -= i.issue_slots;
          if (executions != nullptr) --executions[paths.pc()];
          budget = executed;
          break;
        }
        paths.advance();
        break;
      case Category::phase_wait:
        phase_waits_.wait(warp, i, active);
        break;
      default:
        control(warp, i, active);
    }
  }
  steps_ += executed;
  state_.counts += counts;
  return executed;
}

bool BlockRunner::run_straight(Warp& warp, std::uint64_t most, InterpreterCounts& counts) {
  WarpPaths& paths = warp.paths;
  const std::uint32_t first = paths.pc(), path = paths.mask();
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({most, state_.straight.length(first), paths.before_meeting()}));
  if (count == 0 || warp.is_behind_barrier || warp.multiplies ||
      state_.launch.executions != nullptr)
    return false;
  const Instruction* const instructions = state_.program.instructions.data() + first;
  const StraightCode::Step* const steps = state_.straight.steps().data() + first;
  const PlacedBytes shared{0, shared_.size(), shared_.data()};
  context_.path = path;
  std::uint32_t done = 0;
  std::uint64_t left_out = 0;  // lanes left out by guards, summed over the instructions
  for (; done < count; ++done) {
    const Instruction& i = instructions[done];
    const std::uint32_t active = warp.guarded(i, path);
    context_.active = active;
    const StraightCode::Step& step = steps[done];
    if (step.execute != nullptr) {
      if (active != 0) step.execute(i, context_);
    } else if (active != 0 && !(step.loads_shared ? step.moves.move(i, context_, shared)
                                                  : move_lanes(warp, i, step.moves))) {
      break;
    }
    if (active != path) left_out += static_cast<unsigned>(std::popcount(path & ~active));
  }
  if (done == 0) return false;
  counts.warp_instructions += done;
  counts.thread_instructions +=
      std::uint64_t{done} * static_cast<unsigned>(std::popcount(path)) - left_out;
  counts.issue_slots += state_.straight.issue_slots(first, first + done);
  paths.advance(done);
  return true;
}

void BlockRunner::control(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  WarpPaths& paths = warp.paths;
  if (active == 0) {
    paths.advance();
    return;
  }
  switch (instruction.category) {
    case Category::branch_indexed:
      branch_indexed(warp, instruction, active);
      break;
    case Category::call:
      paths.call(active, instruction.target);
      break;
    case Category::call_indirect:
      call_indirect(warp, instruction, active);
      break;
    case Category::ret: {
      const std::uint32_t before = paths.alive();
      paths.ret(active);
      if (races_ && paths.alive() != before) races_->exit(warp.identity.warp_in_block);
      break;
    }
    case Category::exit:
      if (races_) races_->exit(warp.identity.warp_in_block);
      paths.exit(active);
      barriers_.complete();
      cluster_.barrier().complete();
      break;
    case Category::cluster_barrier:
      in_cluster_.barrier(warp, instruction, active);
      break;
    case Category::print:
      print(warp, instruction, active);
      break;
    case Category::trap: {
      const auto lane = static_cast<unsigned>(std::countr_zero(active));
      if (is_assertion(instruction))
        fail(warp, lane, assertion_text(instruction, context_, lane, state_.text),
             assertion_advice);
      const TrapMessage message = message_of(instruction);
      fail(warp, lane, message.what, message.advice);
    }
    default:
      LOCKSTEP_CHECK(false, "instruction of unknown category");
  }
}

void BlockRunner::print(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  context_.active = active;
  try {
    std::string printed = warp.print.execute(instruction, context_, state_.text);
    if (!printed.empty() && state_.launch.printed != nullptr)
      state_.launch.printed->push_back(std::move(printed));
  } catch (const WarpPrint::NoFormat& no_format) {
    fail(warp, no_format.lane, no_format.what, "formats are string literals of the module");
  }
  warp.paths.advance();
}

void BlockRunner::branch_indexed(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  const std::uint32_t* index = row(warp, instruction.source[0]);
  auto arms = branch_arms(
      state_.program.branch_tables[instruction.target], active,
      [&](unsigned lane) { return index[lane]; },
      [&](unsigned lane, const auto& what, const char* advice) { fail(warp, lane, what, advice); });
  if (const std::uint32_t others = warp.paths.mask() & ~active; others != 0)
    arms.push_back({warp.paths.pc() + 1, others});
  warp.paths.branch(arms, instruction.reconvergence);
}

void BlockRunner::call_indirect(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  warp.paths.call(call_arms(
      state_.program.function_entries, active,
      [&](unsigned lane) { return address_of(warp, instruction, lane); },
      [&](unsigned lane, const auto& what, const char* advice) {
        fail(warp, lane, what, advice);
      }));
}

void BlockRunner::stand_apart(Warp& warp, std::uint32_t active) {
  const std::array arms{WarpPaths::Arm{warp.paths.pc() + 1, warp.paths.mask() & ~active},
                        WarpPaths::Arm{warp.paths.pc(), active}};
  warp.paths.branch(arms, no_reconvergence);
}

void BlockRunner::barrier(std::uint32_t w, const Instruction& instruction, std::uint32_t active) {
  Warp& warp = warps_[w];
  if (active == 0) {
    warp.paths.advance();
    return;
  }
  if (warp.paths.mask() != active) return stand_apart(warp, active);
  const auto first = static_cast<unsigned>(std::countr_zero(active));
  const std::uint32_t number = barrier_number(context_, instruction, first);
  if (number >= named_barriers)
    fail(warp, first, barrier_mistake(number), "barriers are numbered 0 to 15");
  const std::uint32_t expected = barrier_count(context_, instruction, first);
  if (races_) races_->arrive(number, w);
  barriers_.arrive(w, instruction, number, expected);
}

void BlockRunner::warp_sync(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  WarpPaths& paths = warp.paths;
  std::uint32_t together = paths.mask();
  if ((instruction.flags & flag_needs_all_lanes) != 0 && active != 0) {
    Operand members;
    for (const Operand source : sources_of(state_.program, instruction))
      if (source.valid()) members = source;
    const auto first = static_cast<unsigned>(std::countr_zero(active));
    const std::uint32_t mask = row(warp, members)[first];
    together = paths.arrive(mask);
    if (together == 0) return;
    if (races_) watch_.meet(warp, row(warp, members), together);
    if (!paths.is_named(mask, first)) warn_of_absent(warp);
    active = warp.guarded(instruction, together);
  }
  if (instruction.category == Category::shuffle_vote && active != 0) {
    if (needs_whole_warp(instruction)) [[unlikely]]
      require_whole_warp(warp, instruction, active);
    context_.active = active;
    context_.path = together;
    instruction.execute(instruction, context_);
  }
  paths.advance();
}

const std::uint32_t* BlockRunner::row(const Warp& warp, Operand operand) const {
  const std::uint32_t* base =
      operand.base() == Operand::registers ? warp.rows : context_.bases[operand.base()];
  return base + std::size_t{operand.row()} * warp_size;
}

std::string BlockRunner::place_of(const Warp& warp) const {
  return place_in(state_, warp.paths.pc());
}

void BlockRunner::fail(const Warp& warp, unsigned lane, const std::string& what,
                       const std::string& advice) const {
  const std::array<std::uint32_t, 3> thread =
      unfold(std::uint64_t{warp.identity.warp_in_block} * warp_size + lane, state_.launch.block);
  throw UserError(place_of(warp),
                  "kernel " + kernel_title(state_.program.name) + ", block " +
                      three(warp.identity.block_index) + ", thread " + three(thread) + ": " + what,
                  advice);
}

namespace {

/// Returns where warps are, if they are at several lines: "; its warps are at lines 12 (4), 20
/// (1)".
std::string places_text(std::span<const InterpretedWarp> warps, const Program& program) {
  std::map<std::uint32_t, std::uint32_t> places;
  for (const InterpretedWarp& warp : warps)
    warp.paths.for_each_path([&](std::uint32_t pc, std::uint32_t lanes) {
      if (lanes != 0 && pc < program.source_lines.size()) ++places[program.source_lines[pc]];
    });
  if (places.size() < 2) return "";
  std::string text;
  for (const auto& [line, number] : places)
    text += fmt::format("{} {} ({})", text.empty() ? "" : ",", line, number);
  return "; its warps are at lines" + text;
}

}  // namespace

bool BlockRunner::gets_on() {
  states_.resize(warps_.size());
  const Program& program = state_.program;
  bool any = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const Warp& warp = warps_[w];
    if (warp.paths.finished()) continue;
    const std::span rows(warp.rows, std::size_t{program.rows} * warp_size);
    const std::span predicates(warp.predicates, program.predicates);
    any |= states_[w].add(
        hash_of(std::as_bytes(rows), hash_of(std::as_bytes(predicates), warp.paths.alive())));
  }
  return any;
}

void BlockRunner::report_spin(std::uint64_t instructions, const std::string& more) const {
  for (const Warp& warp : warps_) {
    if (warp.paths.finished()) continue;
    fail(warp, static_cast<unsigned>(std::countr_zero(warp.paths.alive())),
         "does not get on: for " + std::to_string(instructions / 1'000'000) +
             " million warp instructions no word of memory and no thread of the grid has changed" +
             phase_waits_.last() + places_text(warps_, state_.program) + more,
         warp.paths.takes_turns() ? "it waits for what no other thread does, or never ends"
                                  : no_turns_advice);
  }
  LOCKSTEP_CHECK(false, "a block has ended and spins");
}

bool BlockRunner::unblock() {
  for (Warp& warp : warps_)
    if (warp.paths.unblock(state_.program.instructions.data(), true)) {
      warn_of_absent(warp);
      return true;
    }
  return false;
}

void BlockRunner::warn_of_absent(Warp& warp) {
  const auto absent = warp.paths.take_absent();
  if (!absent) return;
  const auto& [x, y, z] = warp.identity.block_index;
  const std::array<std::uint32_t, 3>& grid = state_.launch.grid;
  state_.warnings.add(state_.program.source_lines[absent->pc],
                      x + grid[0] * (y + std::uint64_t{grid[1]} * z),
                      place_in(state_, absent->pc) + ": " + title_of(state_, warp.identity) +
                          gone_on_text(*absent));
}

std::string BlockRunner::standing_text(std::uint32_t w, std::uint32_t lanes) const {
  const Warp& warp = warps_[w];
  std::string where = "has not begun";
  warp.paths.for_each_path([&](std::uint32_t pc, std::uint32_t those) {
    if ((those & lanes) == 0 || pc >= state_.program.source_lines.size()) return;
    where = "stands at line " + std::to_string(state_.program.source_lines[pc]);
  });
  return fmt::format("block {}, warp {} {}", three(warp.identity.block_index), w, where);
}

void BlockRunner::report_deadlock(const std::string& more) const {
  for (const Warp& warp : warps_) {
    if (warp.paths.finished()) continue;
    const std::string title = title_of(state_, warp.identity);
    if (const auto incomplete = warp.paths.first_incomplete(); incomplete)
      throw UserError(place_in(state_, incomplete->pc), title + never_met_text(*incomplete) + more,
                      never_met_advice);
    std::uint32_t pc = 0, lanes = warp.paths.alive();
    warp.paths.for_each_waiting([&](std::uint32_t where, std::uint32_t mask) {
      pc = where;
      lanes = mask;
    });
    throw UserError(place_in(state_, pc),
                    title + "deadlock, " + std::to_string(std::popcount(lanes)) +
                        " threads wait at a barrier that the others do not reach" + more,
                    cluster_.size() == 1 ? "let all threads of the block reach it"
                                         : "let all threads of the block, or of the cluster, reach "
                                           "it");
  }
  LOCKSTEP_CHECK(false, "no warp runs, yet all have ended");
}

}  // namespace lockstep::isa
