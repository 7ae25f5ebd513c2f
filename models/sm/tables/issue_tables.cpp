#include "models/sm/tables/issue_tables.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/isa/encode/divergent_rows.hpp"
#include "models/isa/encode/encode.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/parameters/code_region.hpp"
#include "models/sm/tables/balanced_pipes.hpp"
#include "models/sm/tables/deferred_values.hpp"
#include "models/sm/tables/dense_rows.hpp"
#include "models/sm/tables/expansion_timing.hpp"
#include "models/sm/tables/forwarded_copies.hpp"
#include "models/sm/tables/no_effect.hpp"

namespace lockstep {

namespace {

using isa::Category;
using isa::Instruction;
using isa::is_memory;
using isa::LatencyClass;
using isa::Operand;
using isa::Unit;

std::vector<std::uint16_t> commits_of(const isa::Program& program, const Instruction& instruction) {
  std::vector<std::uint16_t> events;
  for (const Operand operand : isa::destinations_of(program, instruction))
    if (operand.is_register())
      events.push_back(static_cast<std::uint16_t>(
          operand.row() | (operand.row() < program.pair_rows ? WarpEvent::pair : 0)));
  for (const std::uint8_t predicate : instruction.predicate_destination)
    if (predicate != isa::no_predicate)
      events.push_back(static_cast<std::uint16_t>(Scoreboard::first_predicate + predicate));
  return events;
}

void add_releases(const isa::Program& program, const Instruction& instruction,
                  std::vector<Scoreboard>& groups, IssueRecord& record) {
  const std::vector<std::uint16_t> events = commits_of(program, instruction);
  if (events.size() <= record.release.size()) {
    std::ranges::copy(events, record.release.begin());
    record.releases = static_cast<std::uint8_t>(events.size());
    return;
  }
  Scoreboard group;
  for (std::size_t i = 1; i < events.size(); ++i) group.mark(events[i]);
  const auto known = std::ranges::find(groups, group);
  LOCKSTEP_CHECK(groups.size() < 0xffff, "more groups of destinations than can be numbered");
  record.releases = IssueRecord::grouped;
  record.release = {events[0], static_cast<std::uint16_t>(known - groups.begin())};
  if (known == groups.end()) groups.push_back(group);
}

/// An instruction that touches no other row names the row of predicates, behind the registers.
void add_touches(const DeferredValues& issued, std::size_t pc, const DenseRows& dense,
                 IssueRecord& record) {
  const Instruction& instruction = issued.instructions[pc];
  std::size_t count = 0;
  const auto add = [&](Operand operand) {
    if (!operand.is_register()) return;
    const unsigned rows = operand.row() < dense.pair_rows ? 2 : 1;
    for (unsigned row = operand.row(); row < operand.row() + rows; ++row)
      if (const auto end = record.touches.begin() + static_cast<std::ptrdiff_t>(count);
          count < record.touches.size() && std::find(record.touches.begin(), end, row) == end)
        record.touches[count++] = static_cast<std::uint8_t>(row);
  };
  if (has_effect(instruction)) {
    if (!isa::is_listed(instruction)) add(instruction.destination[0]);
    for (Operand operand : isa::sources_of(issued, instruction)) add(operand);
  }
  if (issued.computes_address[pc])
    for (Operand operand : issued.instructions[instruction.target].source) add(operand);
  if (count == 0) record.touches[count++] = static_cast<std::uint8_t>(std::min(dense.rows, 255u));
  std::fill(record.touches.begin() + static_cast<std::ptrdiff_t>(count), record.touches.end(),
            record.touches[0]);
}

std::uint8_t memory_flags(const Instruction& instruction) {
  using isa::CacheOperator;
  using isa::Ordering;
  const isa::MemoryFields& memory = instruction.memory;
  const bool beyond_sm = memory.scope != isa::Scope::cta;
  std::uint8_t flags = 0;
  const bool releases = memory.ordering == Ordering::release ||
                        memory.ordering == Ordering::acq_rel || memory.ordering == Ordering::sc;
  const bool acquires = memory.ordering == Ordering::acquire ||
                        memory.ordering == Ordering::acq_rel || memory.ordering == Ordering::sc;
  if (releases && beyond_sm) flags |= IssueRecord::ordered_before;
  if (acquires && beyond_sm) flags |= IssueRecord::ordered_after;
  if (instruction.category == Category::fence) return flags;
  if ((memory.ordering != Ordering::weak && beyond_sm) || memory.cache == CacheOperator::cg ||
      memory.cache == CacheOperator::cv || instruction.category == Category::atomic)
    flags |= IssueRecord::bypasses_l1;
  return flags;
}

/// Returns whether the instruction loads one 32-bit register per lane.
bool loads_words(const Instruction& instruction) {
  return instruction.category == Category::load && instruction.destination[0].valid() &&
         instruction.memory.elements == 1 && moves_words(instruction.memory);
}

/// Returns whether the instruction is FMNMX or FSETP: behind another of these, ptxas waits as long
/// as between logic operations.
bool compares_words(const Instruction& instruction) {
  using isa::Opcode;
  return instruction.unit == Unit::fp32 &&
         (instruction.opcode == Opcode::min || instruction.opcode == Opcode::max ||
          instruction.opcode == Opcode::setp || instruction.opcode == Opcode::set);
}

Unit unit_of(const Instruction& instruction, const SmParameters& parameters) {
  const bool multiplies = instruction.unit == Unit::integer &&
                          instruction.latency_class == LatencyClass::integer_multiply;
  Unit unit = multiplies ? multiply_unit(parameters) : instruction.unit;
  if (parameters.multiply_unit == MultiplyUnit::fp32 && compares_words(instruction))
    unit = Unit::integer;
  return present_unit(unit, parameters.units);
}

/// `expansion`: expansion of the instruction, see expansions.hpp.
IssueRecord make_record(const SmParameters& parameters, const Instruction& instruction,
                        std::uint32_t expansion, const isa::ScoreboardNeed& need) {
  IssueRecord record;
  std::copy(need.rows.begin(), need.rows.end(), record.needs.places.begin());
  record.needs.places.back() = need.predicates;
  record.unit = static_cast<std::uint8_t>(unit_of(instruction, parameters));
  record.issue_slots = std::max<std::uint8_t>(1, instruction.issue_slots);
  const auto operand_read = parameters.operand_read.count();
  auto latency = parameters.latency[instruction.latency_class].count();
  auto interval = parameters.interval[instruction.latency_class].count();
  bool branches = false;
  if (is_memory(instruction.category) || instruction.category == Category::fence) {
    record.flags |= memory_flags(instruction);
    if (instruction.memory.space == isa::Space::shared && instruction.source[0].valid() &&
        !(instruction.flags & isa::flag_address_wide) && is_memory(instruction.category) &&
        !isa::moves_matrices(instruction))
      record.flags |= IssueRecord::shared_only;
    if ((record.flags & IssueRecord::shared_only) && loads_words(instruction))
      record.flags |= IssueRecord::word_load;
    interval = parameters.memory_interval.count();
    latency = parameters.shared.latency.count();
    if (instruction.memory.space == isa::Space::constant ||
        instruction.memory.space == isa::Space::parameter)
      latency = parameters.constant_latency.count();
  } else if (instruction.category == Category::phase_wait) {
    if (instruction.memory.scope == isa::Scope::cluster &&
        instruction.memory.ordering == isa::Ordering::acquire)
      record.flags |= IssueRecord::ordered_after;
    interval = parameters.memory_interval.count();
    latency = parameters.shared.latency.count() + parameters.latency[LatencyClass::integer].count();
  } else if (instruction.category == Category::cluster_barrier) {
    constexpr auto orders = IssueRecord::ordered_before | IssueRecord::ordered_after;
    record.flags |= static_cast<std::uint8_t>(memory_flags(instruction) & orders);
    latency = parameters.latency[instruction.latency_class].count();
  } else if (instruction.category == Category::async_store) {
    interval = parameters.memory_interval.count();
  } else if (instruction.category == Category::bulk_copy) {
    record.flags |= IssueRecord::ordered_before;  // the engine's queue has an end
    interval = parameters.memory_interval.count();
  } else if (instruction.category == Category::warpgroup_product) {
    // The instruction waits while the queue of products is full.
    record.flags |= IssueRecord::ordered_before;
    interval = parameters.wgmma.issue_interval.count();
  } else if (instruction.category == Category::warpgroup_step) {
    const auto wait = static_cast<std::uint16_t>(isa::ir::WarpgroupStep::wait);
    if (instruction.detail == wait) record.flags |= IssueRecord::ordered_before;
  } else if (instruction.category == Category::register_limit) {
    record.flags |= IssueRecord::ordered_before;  // an increase waits for free registers
  } else if (instruction.category == Category::bulk_group) {
    const auto commit = static_cast<std::uint16_t>(isa::ir::BulkGroupStep::commit);
    if (instruction.detail != commit) record.flags |= IssueRecord::ordered_before;
  } else if (instruction.category == Category::copy_group) {
    const auto commit = static_cast<std::uint16_t>(isa::ir::CopyGroupStep::commit);
    if (instruction.detail != commit) record.flags |= IssueRecord::ordered_before;
  } else if (instruction.category == Category::grid_dependency) {
    const auto wait = static_cast<std::uint16_t>(isa::ir::GridDependencyStep::wait);
    if (instruction.detail == wait) record.flags |= IssueRecord::ordered_before;
  } else if (expansion != 0 && parameters.expansions == Expansions::sequence) {
    const isa::Expansion& sequence = isa::expansion(expansion);
    const ExpansionTiming timing = timing_of(sequence, parameters);
    record.issue_slots = static_cast<std::uint8_t>(sequence.size());
    record.unit = static_cast<std::uint8_t>(timing.unit);
    latency = timing.latency;
    interval = timing.interval;
    branches = sequence.branches();
  } else {
    // An expanded instruction occupies the unit for each of its parts.
    latency += operand_read + (record.issue_slots - 1) * interval;
    interval *= record.issue_slots;
    if (instruction.unit == Unit::control)
      latency = parameters.latency[instruction.latency_class].count();
  }
  record.latency = static_cast<std::uint16_t>(std::min<std::int64_t>(latency, 0xffff));
  record.interval = static_cast<std::uint16_t>(std::min<std::int64_t>(interval, 0xffff));
  const bool computes = instruction.category == Category::arithmetic ||
                        instruction.category == Category::shuffle_vote;
  if (computes && !branches && !(instruction.flags & isa::flag_needs_all_lanes))
    record.flags |= IssueRecord::plain;
  return record;
}

/// Computes masks of live rows, among the rows that the SM's instructions name.
void find_live_rows(const isa::Program& program, IssueTable& issue) {
  isa::Program renamed = program;
  renamed.instructions = issue.instructions;
  renamed.operand_lists = issue.operand_lists;
  renamed.rows = issue.rows;
  renamed.pair_rows = issue.pair_rows;
  isa::find_live_rows(renamed);
#ifndef NDEBUG
  issue.divergent_rows = isa::divergent_rows(renamed);
#endif
  issue.live_rows = std::move(renamed.live_rows);
}

}  // namespace

IssueTables::IssueTables(const SmParameters& parameters,
                         const std::vector<const isa::Module*>& modules, IssueDetail detail) {
  for (const isa::Module* module : modules) {
    auto& kernels = tables_.emplace_back();
    for (const isa::Kernel& kernel : module->kernels) {
      const isa::Program& program = kernel.lowered;
      if (program.instructions.empty()) {  // the kernel is never launched
        kernels.emplace_back();
        continue;
      }
      LOCKSTEP_CHECK(program.needs.size() == program.instructions.size(),
                     "kernel " + program.name + " has no scoreboard needs");
      LOCKSTEP_CHECK(program.rows <= 256 && program.predicates <= 64,
                     "kernel " + program.name + " needs more rows than a scoreboard has");
      const bool precise = detail == IssueDetail::precise;
      isa::Program forwarded = program;
      if (!precise) forward_copies(forwarded);
      DeferredValues issued = precise ? nothing_deferred(program) : defer_values(forwarded);
      IssueTable& issue = kernels.emplace_back();
      for (std::size_t pc = 0; pc < program.instructions.size(); ++pc) {
        const Instruction& instruction = program.instructions[pc];
        const bool computes = instruction.category == Category::arithmetic;
        issue.records.push_back(make_record(parameters, issued.instructions[pc],
                                            computes ? instruction.target : 0, program.needs[pc]));
        add_releases(program, instruction, issue.release_groups, issue.records.back());
        if (issued.computes_address[pc])
          issue.records.back().flags |= IssueRecord::computes_address;
        if (issued.reads_special[pc]) issue.records.back().flags |= IssueRecord::reads_identity;
      }
      if (parameters.multiply_unit == MultiplyUnit::fp32)
        balance_pipes(program, parameters, issue.records);
      if (detail != IssueDetail::fast) issue.precise = make_precise_records(program);
      const DenseRows dense = number_densely(issued, forwarded);
      for (std::size_t pc = 0; pc < program.instructions.size(); ++pc)
        add_touches(issued, pc, dense, issue.records[pc]);
      issue.instructions = std::move(issued.instructions);
      issue.operand_lists = std::move(issued.operand_lists);
      issue.rows = dense.rows;
      issue.pair_rows = dense.pair_rows;
      if (precise) find_live_rows(program, issue);
      issue.rows_read_first = dense.read_first;
      issue.global_use = isa::find_global_use(program);
      if (parameters.instruction_cache.on()) place_code(parameters, issue);
    }
  }
}

/// Counts code bytes; an operation that hardware expands takes as much room as the instructions
/// that it issues.
void IssueTables::place_code(const SmParameters& parameters, IssueTable& issue) {
  std::uint64_t offset = 0;
  for (const IssueRecord& record : issue.records) {
    issue.code_lines.push_back(code_lines_ + static_cast<std::uint32_t>(offset / line_bytes));
    offset += record.issue_slots * parameters.instruction_cache.instruction_bytes.count();
  }
  code_lines_ = issue.code_lines.back() + 1;
  LOCKSTEP_CHECK(code_lines_ <= CodeRegion::most_code_lines, "more code than there is room for");
}

std::shared_ptr<const IssueTables> make_issue_tables(const SmParameters& parameters,
                                                     const std::vector<const isa::Module*>& modules,
                                                     IssueDetail detail) {
  return std::make_shared<const IssueTables>(parameters, modules, detail);
}

}  // namespace lockstep
