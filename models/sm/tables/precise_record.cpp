#include "models/sm/tables/precise_record.hpp"

#include "core/error/error.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/sm/parameters/log_entries.hpp"
#include "models/sm/tables/scoreboard.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;
using isa::Ordering;

namespace {

/// Returns whether the instruction orders memory: block barriers, fences and releases of any scope,
/// and the end of threads.
bool orders_memory(const Instruction& instruction) {
  const Ordering ordering = instruction.memory.ordering;
  if (instruction.category == Category::load || instruction.category == Category::store ||
      instruction.category == Category::atomic)
    return ordering == Ordering::release || ordering == Ordering::acq_rel ||
           ordering == Ordering::sc;
  return instruction.category == Category::barrier || instruction.category == Category::fence ||
         instruction.category == Category::exit;
}

bool is_control(Category category) {
  switch (category) {
    case Category::arithmetic:
    case Category::load:
    case Category::store:
    case Category::atomic:
    case Category::prefetch:
    case Category::copy:
    case Category::shuffle_vote:
      return false;
    default:
      return true;
  }
}

std::vector<std::uint16_t> source_events(const isa::Program& program,
                                         const Instruction& instruction) {
  std::vector<std::uint16_t> events;
  const auto add = [&](unsigned event) { events.push_back(static_cast<std::uint16_t>(event)); };
  for (const isa::Operand operand : isa::sources_of(program, instruction))
    if (operand.is_register())
      add(operand.row() | (operand.row() < program.pair_rows ? WarpEvent::pair : 0u));
  for (const std::uint8_t predicate : instruction.predicate_source)
    if (predicate != isa::no_predicate) add(Scoreboard::first_predicate + predicate);
  if (instruction.guard != isa::no_predicate) add(Scoreboard::first_predicate + instruction.guard);
  return events;
}

}  // namespace

std::vector<PreciseRecord> make_precise_records(const isa::Program& program) {
  std::vector<PreciseRecord> records(program.instructions.size());
  for (std::size_t pc = 0; pc < program.instructions.size(); ++pc) {
    const Instruction& instruction = program.instructions[pc];
    PreciseRecord shared;
    if (log_entries_of(instruction) > 0) shared.flags |= PreciseRecord::may_fault;
    if (orders_memory(instruction)) shared.flags |= PreciseRecord::waits_for_checks;
    if (!is_control(instruction.category)) shared.flags |= PreciseRecord::reads_late;
    shared.log_entries = static_cast<std::uint8_t>(log_entries_of(instruction));
    records[pc] = shared;
    std::size_t at = pc;
    for (const std::uint16_t event : source_events(program, instruction)) {
      if (records[at].source_count == shared.sources.size()) {
        LOCKSTEP_CHECK(records.size() < 0xffff, "more lists of sources than can be numbered");
        records[at].more = static_cast<std::uint16_t>(records.size());
        at = records.size();
        records.push_back(shared);
      }
      records[at].sources[records[at].source_count++] = event;
    }
  }
  return records;
}

}  // namespace lockstep
