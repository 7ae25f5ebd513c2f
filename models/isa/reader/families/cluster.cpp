/// Instructions of thread block clusters: mapa, getctarank, barrier.cluster, st.async, red.async.
/// Other families read further accesses to shared memory of a cluster: loads, stores and atomics
/// with .shared::cluster, arrivals at mbarriers of other blocks, bulk copies.
///
/// An async_store is one operation: sources[0] has 64 bits, with the address in its low half and
/// the mbarrier's address, in the same block, in its high half; sources[1..] are the data.
/// Source: PTX ISA 8.x, "mapa", "getctarank", "barrier.cluster", "st.async", "red.async"; forms
/// that ptxas 13 takes for sm_90a.
///
/// Simplified: the forms of st.async and red.async that need no mbarrier belong to sm_100.
#include "models/isa/reader/families/cluster.hpp"

#include "models/isa/reader/families/async_copy.hpp"
#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

Type ClusterReader::take_address_type(PtxInstruction& instruction) {
  instruction.operation.space =
      instruction.modifiers.take("shared::cluster") ? Space::shared_cluster : Space::generic;
  const Type type = instruction.modifiers.take_type();
  if (type != Type::u32 && type != Type::u64) instruction.fail("needs the type .u32 or .u64");
  instruction.reject_rest();
  return type;
}

void ClusterReader::map_address(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.type = take_address_type(instruction);
  operation.mode = operation.space == Space::generic ? 1 : 0;
  instruction.expect_arguments(3, 3);
  operation.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), operation.type));
  operation.sources.push_back(
      operands_.source(instruction, instruction.argument(1), operation.type));
  operation.sources.push_back(operands_.source(instruction, instruction.argument(2), Type::u32));
  code_.finish(instruction);
}

/// Reads getctarank.  An address of code 0 lies in the block itself, whose rank is one more source.
void ClusterReader::rank(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.type = take_address_type(instruction);
  instruction.expect_arguments(2, 2);
  operation.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), Type::u32));
  operation.sources.push_back(
      operands_.source(instruction, instruction.argument(1), operation.type));
  ir::Operation own = instruction.plain(Opcode::mov, Type::u32);
  own.guard = operation.guard;
  ir::Operand special;
  special.kind = Kind::special;
  special.index = static_cast<std::uint32_t>(ir::SpecialRegister::cluster_ctarank);
  own.sources = {special};
  own.destinations = {ir::register_operand(code_.new_register(Type::b32))};
  operation.sources.push_back(own.destinations[0]);
  code_.append(std::move(own));
  code_.finish(instruction);
}

void ClusterReader::barrier(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  operation.opcode = Opcode::bar_cluster;
  const bool arrives = modifiers.take("arrive");
  if (!arrives && !modifiers.take("wait")) instruction.fail("needs .arrive or .wait");
  operation.mode = static_cast<std::uint16_t>(arrives ? ir::ClusterBarrierStep::arrive
                                                      : ir::ClusterBarrierStep::wait);
  operation.scope = Scope::cluster;
  operation.ordering = arrives ? Ordering::release : Ordering::acquire;
  if (arrives && modifiers.take("relaxed")) {
    operation.ordering = Ordering::relaxed;
  } else {
    modifiers.take(arrives ? "release" : "acquire");
  }
  modifiers.take("aligned");
  instruction.expect_arguments(0, 0);
  code_.finish(instruction);
}

ir::Operand ClusterReader::place(PtxInstruction& instruction, const Argument& argument,
                                 bool is_generic) {
  const ir::Operand address = shared_address(code_, operands_, instruction, argument);
  if (!is_generic) return address;
  return compute(code_, instruction, Opcode::sub, Type::u32, address,
                 ir::immediate_operand(static_cast<std::int64_t>(shared_window_base)));
}

void ClusterReader::store(PtxInstruction& instruction) {
  instruction.modifiers.take("weak");
  instruction.operation.atomic = AtomicOperation::none;
  send(instruction);
}

namespace {

/// Returns whether red.async has the operation for the type.
bool is_async_reduction(AtomicOperation operation, Type type) {
  switch (operation) {
    case AtomicOperation::inc:
    case AtomicOperation::dec:
      return type == Type::u32;
    case AtomicOperation::min:
    case AtomicOperation::max:
      return type == Type::u32 || type == Type::s32;
    case AtomicOperation::add:
      return type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64;
    case AtomicOperation::logical_and:
    case AtomicOperation::logical_or:
    case AtomicOperation::logical_xor:
      return type == Type::b32;
    default:
      return false;
  }
}

}  // namespace

void ClusterReader::reduce(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, AtomicOperation> operations[] = {
      {"add", AtomicOperation::add},       {"min", AtomicOperation::min},
      {"max", AtomicOperation::max},       {"inc", AtomicOperation::inc},
      {"dec", AtomicOperation::dec},       {"and", AtomicOperation::logical_and},
      {"or", AtomicOperation::logical_or}, {"xor", AtomicOperation::logical_xor}};
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("relaxed") || !modifiers.take("cluster"))
    instruction.fail("needs .relaxed.cluster");
  instruction.operation.atomic = modifiers.take_one(operations, AtomicOperation::none);
  if (instruction.operation.atomic == AtomicOperation::none)
    instruction.fail("needs .add, .min, .max, .inc, .dec, .and, .or or .xor");
  send(instruction);
}

void ClusterReader::send(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, std::uint8_t> widths[] = {{"v2", 2}, {"v4", 4}};
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  const bool stores = operation.atomic == AtomicOperation::none;
  const bool is_generic = !modifiers.take("shared::cluster");
  if (!modifiers.take("mbarrier::complete_tx::bytes"))
    instruction.fail("needs .mbarrier::complete_tx::bytes");
  operation.elements = stores ? modifiers.take_one(widths, std::uint8_t{1}) : std::uint8_t{1};
  operation.type = modifiers.take_type();
  if (operation.type == Type::none) instruction.lacks_type();
  const unsigned bytes = bytes_of(operation.type);
  const bool exists = stores ? bytes >= 4 && bytes * operation.elements <= 16
                             : is_async_reduction(operation.atomic, operation.type);
  if (!exists) instruction.fail("has no such type");
  instruction.expect_arguments(3, 3);
  instruction.reject_rest();
  const ir::Operand to = place(instruction, instruction.argument(0), is_generic);
  const ir::Operand barrier = place(instruction, instruction.argument(2), is_generic);
  ir::Operation pack = instruction.plain(Opcode::mov_pack, Type::b64);
  pack.guard = operation.guard;
  pack.sources = {to, barrier};
  pack.destinations = {ir::register_operand(code_.new_register(Type::b64))};
  operation.opcode = Opcode::async_store;
  operation.space = Space::shared_cluster;
  operation.scope = Scope::cluster;
  operation.ordering = stores ? Ordering::weak : Ordering::relaxed;
  operation.sources = {pack.destinations[0]};
  code_.append(std::move(pack));
  for (const Argument& from : elements(code_, instruction, instruction.argument(1)))
    operation.sources.push_back(operands_.source(instruction, from, operation.type));
  code_.finish(instruction);
}

}  // namespace lockstep::isa
