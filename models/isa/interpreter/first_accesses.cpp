#include "models/isa/interpreter/first_accesses.hpp"

#include <array>
#include <vector>

#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/interpreter/lane_address.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/operand_lists.hpp"

namespace lockstep::isa {
namespace {

constexpr std::uint64_t most_instructions = 5000;

/// Returns whether the instruction reads a value that differs between the machine and this
/// interpreter.
bool tells_of_the_machine(const Instruction& instruction) {
  if (instruction.opcode != Opcode::mov || instruction.source[0].valid()) return false;
  switch (static_cast<ir::SpecialRegister>(instruction.offset)) {
    case ir::SpecialRegister::warpid:
    case ir::SpecialRegister::nwarpid:
    case ir::SpecialRegister::smid:
    case ir::SpecialRegister::nsmid:
    case ir::SpecialRegister::gridid:
    case ir::SpecialRegister::clock:
    case ir::SpecialRegister::clock_hi:
    case ir::SpecialRegister::clock64:
    case ir::SpecialRegister::globaltimer:
    case ir::SpecialRegister::globaltimer_lo:
    case ir::SpecialRegister::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

/// Rows and predicates with unknown content.
class Unknown {
 public:
  explicit Unknown(const Program& program)
      : program_(program), rows_(program.rows), predicates_(program.predicates) {}

  bool row(Operand operand) const {
    if (!operand.valid()) return false;
    if (operand.base() == Operand::scratch) return true;
    if (!operand.is_register()) return false;
    for (std::uint32_t r = 0; r < program_.width(operand.row()); ++r)
      if (rows_[operand.row() + r]) return true;
    return false;
  }
  bool predicate(std::uint8_t number) const {
    return number != no_predicate && predicates_[number];
  }
  bool sources(const Instruction& instruction) const {
    for (const Operand source : sources_of(program_, instruction))
      if (row(source)) return true;
    for (const std::uint8_t source : instruction.predicate_source)
      if (predicate(source)) return true;
    return false;
  }
  /// `all_lanes`: the old content is lost in all lanes.
  void set_destinations(const Instruction& instruction, bool unknown, bool all_lanes) {
    if (!unknown && !all_lanes) return;
    for (const Operand destination : destinations_of(program_, instruction)) {
      if (!destination.is_register()) continue;
      for (std::uint32_t r = 0; r < program_.width(destination.row()); ++r)
        rows_[destination.row() + r] = unknown;
    }
    for (const std::uint8_t destination : instruction.predicate_destination)
      if (destination != no_predicate) predicates_[destination] = unknown;
  }

 private:
  const Program& program_;
  std::vector<bool> rows_, predicates_;
};

class FirstWarp {
 public:
  FirstWarp(const Launch& launch, const std::function<void(const FirstAccess&)>& visit)
      : state_(launch, no_memory_),
        visit_(visit),
        unknown_(state_.program),
        registers_(std::size_t{state_.program.rows} * warp_size),
        predicates_(state_.program.predicates),
        identity_(identity_of(state_, 0, 0)) {
    context_.bases[Operand::registers] = registers_.data();
    context_.bases[Operand::immediates] =
        const_cast<std::uint32_t*>(state_.program.immediates.data());
    context_.bases[Operand::constants] = state_.constants.data();
    context_.bases[Operand::scratch] = scratch_.data();
    context_.lists = state_.program.operand_lists.data();
    context_.predicates = predicates_.data();
    context_.identity = &identity_;
    paths_.start(lanes_of(state_, 0));
  }

  void run() {
    std::uint64_t executed = 0;
    while (paths_.runnable() && executed < most_instructions && step()) ++executed;
  }

 private:
  /// Executes an instruction. Returns false if the next instruction is not known.
  bool step() {
    const Instruction& instruction = state_.program.instructions[paths_.pc()];
    const bool guard_unknown = unknown_.predicate(instruction.guard);
    std::uint32_t active = paths_.mask();
    if (instruction.guard != no_predicate && !guard_unknown)
      active &= instruction.guard_negated ? ~predicates_[instruction.guard]
                                          : predicates_[instruction.guard];
    switch (instruction.category) {
      case Category::arithmetic:
        compute(instruction, active, guard_unknown);
        break;
      case Category::load:
        if (!guard_unknown) access(instruction, active, false);
        unknown_.set_destinations(instruction, true, false);
        break;
      case Category::store:
      case Category::atomic:
        if (active != 0 && !access(instruction, active, true)) return false;
        unknown_.set_destinations(instruction, true, false);
        break;
      case Category::shuffle_vote:
      case Category::warpgroup_product:
      case Category::warp_barrier:
        if (paths_.mask() != paths_.alive()) return false;
        unknown_.set_destinations(instruction, true, false);
        break;
      case Category::copy:
        if (!guard_unknown) access(instruction, active, false);
        break;
      case Category::bulk_copy:
        if (!guard_unknown && !access_in_bulk(instruction, active)) return false;
        break;
      case Category::prefetch:
      case Category::bulk_group:
      case Category::warpgroup_step:
      case Category::register_limit:
      case Category::copy_group:
      case Category::fence:
      case Category::grid_dependency:
      case Category::sleep:
      case Category::nop:
        break;
      default:
        return !guard_unknown && turn(instruction, active);
    }
    paths_.advance();
    return true;
  }

  void compute(const Instruction& instruction, std::uint32_t active, bool guard_unknown) {
    const bool unknown =
        guard_unknown || unknown_.sources(instruction) || tells_of_the_machine(instruction);
    if (!unknown && active != 0) {
      context_.active = active;
      context_.path = paths_.mask();
      instruction.execute(instruction, context_);
    }
    unknown_.set_destinations(instruction, unknown, active == paths_.alive());
  }

  /// Visits the places that the lanes access.  Returns false if the addresses are not known.
  bool access(const Instruction& instruction, std::uint32_t active, bool writes) {
    if (instruction.memory.space != Space::global && instruction.memory.space != Space::generic)
      return true;
    const Operand base = instruction.source[0];
    if (unknown_.row(base)) return false;
    const std::uint32_t* row = base.valid() ? context_.row(base) : nullptr;
    const std::uint32_t line = state_.program.source_lines[paths_.pc()];
    for_each_lane(active, [&](unsigned lane) {
      visit_({address_of(instruction, row, lane), writes, line});
    });
    return true;
  }

  /// Visits the first place of each lane's bulk copy. Returns false if the place is unknown.
  bool access_in_bulk(const Instruction& instruction, std::uint32_t active) {
    const BulkCopyForm form = BulkCopyForm::unpack(instruction.target);
    if (form.step == ir::BulkCopyStep::prefetch) return true;
    return form.rank == 0 && access(instruction, active, form.writes());
  }

  bool turn(const Instruction& instruction, std::uint32_t active) {
    switch (instruction.category) {
      case Category::branch:
        paths_.branch(active, instruction.target, instruction.reconvergence);
        return true;
      case Category::call:
        if (active == 0) break;
        paths_.call(active, instruction.target);
        return true;
      case Category::ret:
        if (active == 0) break;
        paths_.ret(active);
        return true;
      case Category::exit:
        if (active == 0) break;
        paths_.exit(active);
        return true;
      default:
        return false;
    }
    paths_.advance();
    return true;
  }

  FlatMemory no_memory_;
  LaunchState state_;
  const std::function<void(const FirstAccess&)>& visit_;
  Unknown unknown_;
  std::vector<std::uint32_t> registers_, predicates_;
  std::array<std::uint32_t, 8 * warp_size> scratch_{};
  const WarpIdentity identity_;
  WarpContext context_;
  WarpPaths paths_;
};

}  // namespace

void follow_first_warp(const Launch& launch, const std::function<void(const FirstAccess&)>& visit) {
  FirstWarp(launch, visit).run();
}

}  // namespace lockstep::isa
