#include "models/sm/tables/precise_record.hpp"

#include "models/sm/parameters/log_entries.hpp"
#include "models/sm/tables/scoreboard.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;
using isa::Ordering;

namespace {

/// Block barriers, fences and releases of any scope, and the end of threads.
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
    case Category::shuffle_vote:
      return false;
    default:
      return true;
  }
}

}  // namespace

PreciseRecord make_precise_record(const Instruction& instruction, std::uint32_t pair_rows) {
  PreciseRecord record;
  const auto add = [&](unsigned event) {
    record.sources[record.source_count++] = static_cast<std::uint16_t>(event);
  };
  for (const isa::Operand operand : instruction.source)
    if (operand.is_register())
      add(operand.row() | (operand.row() < pair_rows ? WarpEvent::pair : 0u));
  for (const std::uint8_t predicate : instruction.predicate_source)
    if (predicate != isa::no_predicate) add(Scoreboard::first_predicate + predicate);
  if (instruction.guard != isa::no_predicate) add(Scoreboard::first_predicate + instruction.guard);
  if (log_entries_of(instruction) > 0) record.flags |= PreciseRecord::may_fault;
  if (orders_memory(instruction)) record.flags |= PreciseRecord::waits_for_checks;
  if (!is_control(instruction.category)) record.flags |= PreciseRecord::reads_late;
  record.log_entries = static_cast<std::uint8_t>(log_entries_of(instruction));
  return record;
}

}  // namespace lockstep
