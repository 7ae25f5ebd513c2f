#include "models/isa/encode/program_builder.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/encode/encode.hpp"
#include "models/isa/lowering/memory/shared_layout.hpp"
#include "models/isa/matrix/warpgroup_form.hpp"
#include "models/isa/opcodes/execution_class.hpp"
#include "models/isa/opcodes/expansions.hpp"
#include "models/isa/opcodes/issue_slots.hpp"
#include "models/isa/opcodes/table.hpp"
#include "models/isa/semantics/semantics.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;

ProgramBuilder::ProgramBuilder(const SourceModule& module, Link link)
    : module_(module),
      link_(std::move(link)),
      rows_(link_),
      program_(program_header(module.functions[link_.functions.front().index])) {
  program_.pair_rows = 2 * rows_.pairs();
  program_.rows = rows_.rows();
  program_.predicates = link_.predicates;
  program_.registers_per_thread = program_.rows;
  place_shared();
}

void ProgramBuilder::place_shared() {
  const ir::Function& kernel = *link_.functions.front().input.function;
  SharedLayout layout;
  if (kernel.shared_placed) {
    layout.bytes = kernel.shared_bytes;
  } else {
    std::vector<bool> used(kernel.shared->size(), false);
    for (const LinkedFunction& f : link_.functions) mark_shared(*f.input.function, used);
    layout = lay_out_shared(*kernel.shared, used);
  }
  shared_offsets_ = std::move(layout.offsets);
  program_.static_shared_bytes = static_cast<std::uint32_t>(layout.bytes);
}

void ProgramBuilder::emit(const Instruction& instruction) {
  program_.instructions.push_back(instruction);
  program_.source_lines.push_back(line_);
}

void ProgramBuilder::unsupported(const ir::Operation& op, const std::string& why) const {
  throw UserError(file() + ":" + std::to_string(op.line) + ":" + std::to_string(op.column), why,
                  "write it with other instructions");
}

namespace {

/// Returns the PTX name of an operation of bulk copies; "" for others.
const char* name_among_bulk_copies(const ir::Operation& op) {
  if (op.opcode == Opcode::bulk_copy && op.atomic != AtomicOperation::none)
    return "cp.reduce.async.bulk";
  if (op.opcode == Opcode::bulk_copy || op.opcode == Opcode::bulk_group) return "cp.async.bulk";
  switch (op.atomic) {
    case AtomicOperation::expect_transactions:
      return "mbarrier.expect_tx";
    case AtomicOperation::complete_transactions:
      return "mbarrier.complete_tx";
    case AtomicOperation::arrive_and_expect:
      return "mbarrier.arrive.expect_tx";
    case AtomicOperation::arrive_and_expect_and_drop:
      return "mbarrier.arrive_drop.expect_tx";
    default:
      return "";
  }
}

}  // namespace

void ProgramBuilder::require_bulk_copies(const ir::Operation& op) const {
  const std::string name = name_among_bulk_copies(op);
  if (name.empty() || module_.bulk_copies) return;
  throw UserError(file() + ":" + std::to_string(op.line) + ":" + std::to_string(op.column),
                  name +
                      " needs the engine for bulk copies of compute capability 9.0 or later: "
                      "the machine has none",
                  "simulate a GPU like H100 (9.0), or compile for the one that is simulated");
}

namespace {

/// Returns the PTX name of an operation of clusters; "" for others.
std::string name_among_clusters(const ir::Operation& op) {
  const auto is_special = [](const ir::Operand& operand) {
    constexpr auto first = static_cast<std::uint32_t>(ir::SpecialRegister::clusterid_x);
    return operand.kind == ir::Operand::Kind::special && operand.index >= first;
  };
  switch (op.opcode) {
    case Opcode::mapa:
    case Opcode::getctarank:
      return std::string(facts_of(op.opcode).name);
    case Opcode::bar_cluster:
      return "barrier.cluster";
    case Opcode::async_store:
      return op.atomic == AtomicOperation::none ? "st.async" : "red.async";
    case Opcode::bulk_copy: {
      const BulkCopyForm form = BulkCopyForm::unpack(op.immediate);
      if (form.multicast) return "cp.async.bulk with .multicast::cluster";
      if (form.step != ir::BulkCopyStep::send) return "";
      return op.atomic == AtomicOperation::none ? "cp.async.bulk to .shared::cluster"
                                                : "cp.reduce.async.bulk to .shared::cluster";
    }
    case Opcode::mov:
      return std::ranges::any_of(op.sources, is_special) ? "a special register of clusters" : "";
    default:
      return op.space == Space::shared_cluster ? ".shared::cluster" : "";
  }
}

}  // namespace

void ProgramBuilder::require_clusters(const ir::Operation& op) const {
  if (module_.clusters) return;
  const std::string name = name_among_clusters(op);
  if (name.empty()) return;
  throw UserError(file() + ":" + std::to_string(op.line) + ":" + std::to_string(op.column),
                  name +
                      " needs thread block clusters of compute capability 9.0 or later: the "
                      "machine has none",
                  "simulate a GPU like H100 (9.0), or compile for the one that is simulated");
}

Instruction ProgramBuilder::common(const ir::Operation& op) const {
  require_bulk_copies(op);
  require_clusters(op);
  require_warpgroups(op);
  if (op.opcode == Opcode::mma) return matrix_product(op);
  if (op.opcode == Opcode::wgmma) return warpgroup_product(op);
  return common_of(op);
}

Instruction ProgramBuilder::matrix_product(ir::Operation op) const {
  op.immediate = matrix_form(op);  // units and issue slots depend on the arithmetic
  Instruction instruction = common_of(op);
  instruction.target = op.immediate;
  return instruction;
}

/// Refuses operations of warp groups on machines without them: only Hopper's tensor cores multiply
/// for warp groups, and warps pass registers to each other since Hopper.
void ProgramBuilder::require_warpgroups(const ir::Operation& op) const {
  std::string name = "wgmma";
  if (op.opcode == Opcode::wgmma)
    name += " " + name_of(unpack_warpgroup_form(op.immediate));
  else if (op.opcode == Opcode::setmaxnreg)
    name = "setmaxnreg";
  else if (op.opcode != Opcode::wgmma_step)
    return;
  const auto machine = module_.matrices;
  const bool later = op.opcode == Opcode::setmaxnreg && machine > MatrixArithmetic::hopper;
  if (machine == MatrixArithmetic::hopper || later) return;
  throw UserError(file() + ":" + std::to_string(op.line) + ":" + std::to_string(op.column),
                  name + " needs a GPU of hopper: the machine " +
                      (machine ? std::string("is of ") + name_of(*machine) : "has no matrix units"),
                  "simulate a GPU like H100 (9.0), or compile for the one that is simulated");
}

Instruction ProgramBuilder::warpgroup_product(const ir::Operation& op) const {
  Instruction instruction = common_of(op);
  instruction.target = op.immediate;
  return instruction;
}

Instruction ProgramBuilder::common_of(const ir::Operation& op) const {
  Instruction instruction;
  const ExecutionClass where = execution_class(op);
  instruction.category = where.category;
  instruction.unit = where.unit;
  instruction.latency_class = where.latency;
  instruction.opcode = op.opcode;
  if (where.category == Category::arithmetic) instruction.target = expansion_number(op);
  instruction.issue_slots = static_cast<std::uint8_t>(std::clamp(issue_slots(op), 1u, 255u));
  if (op.guard.kind == Kind::predicate) {
    instruction.guard = predicate_number(op.guard);
    instruction.guard_negated = op.guard.negated;
  }
  if (op.uniform) instruction.flags |= flag_uniform;
  if (op.sync) instruction.flags |= flag_needs_all_lanes;
  if (op.preemption_point) instruction.flags |= flag_preemption_point;
  return instruction;
}

/// Returns the form with the arithmetic of the machine.  Refuses a machine without it.
std::uint32_t ProgramBuilder::matrix_form(const ir::Operation& op) const {
  MatrixForm form = unpack_form(op.immediate);
  const MatrixArithmetic first = first_with(form);
  form.arithmetic = module_.matrices.value_or(MatrixArithmetic::volta);
  if (module_.matrices && is_supported(form)) return pack(form);
  const std::string machine =
      module_.matrices ? std::string("that of the machine is ") + name_of(form.arithmetic)
                       : "the machine has none";
  throw UserError(file() + ":" + std::to_string(op.line) + ":" + std::to_string(op.column),
                  std::string(form.wmma ? "wmma.mma " : "mma ") + name_of(form) +
                      " needs matrix units of " + name_of(first) + " or later: " + machine,
                  std::string("simulate a GPU like ") + example_of(first) +
                      ", or compile for the one that is simulated");
}

void ProgramBuilder::bind(const ir::Operation& op, Instruction& instruction) const {
  if (!bind_semantics(op, instruction))
    unsupported(op, "instruction " + std::string(facts_of(op.opcode).name) +
                        " is not supported with these types and modifiers");
}

Instruction ProgramBuilder::made(Opcode opcode, Type type, Operand to,
                                 std::initializer_list<Operand> from) const {
  ir::Operation op;
  op.opcode = opcode;
  op.type = type;
  if (opcode == Opcode::cvt) op.source_type = Type::u32;
  ir::Operand any;
  any.kind = Kind::reg;
  op.destinations.push_back(any);
  op.sources.assign(from.size(), any);
  Instruction instruction = common(op);
  bind(op, instruction);
  instruction.destination[0] = to;
  std::copy(from.begin(), from.end(), instruction.source.begin());
  return instruction;
}

Operand ProgramBuilder::register_row(std::uint32_t index) const {
  const std::uint32_t slot = current_->registers.slot[index];
  if (slot == ir::no_register) return {};
  return rows_of(current_->input.function->registers[index].type) == 2
             ? rows_.pair(current_->pair_base + slot)
             : rows_.single(current_->single_base + slot);
}

std::uint8_t ProgramBuilder::predicate_number(const ir::Operand& operand) const {
  if (operand.kind != Kind::predicate) return no_predicate;
  const std::uint32_t slot = current_->registers.slot[operand.index];
  return slot == ir::no_register ? no_predicate
                                 : static_cast<std::uint8_t>(current_->predicate_base + slot);
}

Operand ProgramBuilder::next_row(Operand::Base base, std::size_t row) const {
  if (row >= Operand::largest_row)  // a value of 64 bits takes two rows
    throw UserError(file() + ":" + std::to_string(line_),
                    "kernel " + kernel_title(program_.name) +
                        " has more different constants than instructions can name",
                    "keep some in memory or split the kernel");
  return Operand(base, static_cast<std::uint16_t>(row));
}

Operand ProgramBuilder::immediate(std::uint64_t value, unsigned lane_bytes) {
  const bool wide = lane_bytes == 8;
  if (!wide) value &= 0xffffffff;
  const decltype(immediates_)::key_type key{value, wide ? 8u : 4u};
  const auto known = immediates_.find(key);
  if (known != immediates_.end()) return known->second;
  const Operand fresh = next_row(Operand::immediates, program_.immediates.size() / warp_size);
  immediates_.emplace(key, fresh);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    program_.immediates.push_back(static_cast<std::uint32_t>(value));
    if (wide) program_.immediates.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  return fresh;
}

Operand ProgramBuilder::constant(const ConstantRow& wanted) {
  const decltype(constants_)::key_type key{static_cast<int>(wanted.source),
                                           wanted.bytes,
                                           wanted.width,
                                           wanted.is_signed,
                                           wanted.index,
                                           wanted.offset};
  const auto known = constants_.find(key);
  if (known != constants_.end()) return known->second;
  const Operand fresh = next_row(Operand::constants, program_.constant_rows);
  constants_.emplace(key, fresh);
  program_.constants.push_back(wanted);
  program_.constants.back().row = fresh.row();
  program_.constant_rows += wanted.width == 8 ? 2 : 1;
  return fresh;
}

std::uint64_t ProgramBuilder::shared_offset(const ir::Operand& operand) const {
  return shared_offsets_[operand.index] + static_cast<std::uint64_t>(operand.value);
}

std::uint64_t ProgramBuilder::local_offset(const ir::Operand& operand) const {
  return (current_->recursive ? 0 : current_->local_base) +
         current_->input.function->local[operand.index].offset +
         static_cast<std::uint64_t>(operand.value);
}

}  // namespace lockstep::isa
