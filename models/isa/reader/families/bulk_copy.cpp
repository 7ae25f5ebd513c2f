/// Bulk copies between global and shared memory, and the groups of bulk stores.  Copies of tiles
/// are in tensor_copy.cpp.
///
/// A copy is one operation with 64-bit sources: sources[0] is the global address; sources[1] has
/// the shared address in its low half and, for a load, the mbarrier's address in its high half;
/// sources[2] is the number of bytes.
/// Source: PTX ISA 8.x, "cp.async.bulk", "cp.async.bulk.prefetch", "cp.async.bulk.commit_group",
/// "cp.async.bulk.wait_group"; modern-isa.md, section 3.3.
///
/// A copy to several blocks of the cluster has the mask of their ranks as one more source.  A copy
/// from shared memory to that of another block of the cluster has the address in the block's own
/// shared memory in sources[0], instead of a global one; a reduction there is such a copy with an
/// operation.  Where .shared::cluster is written, shared addresses are those of cluster.hpp.
#include "models/isa/reader/families/bulk_copy.hpp"

#include "models/isa/bulk/reduction.hpp"
#include "models/isa/reader/families/async_copy.hpp"
#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

using ir::BulkCopyStep;
using ir::BulkGroupStep;

void BulkCopyReader::copy(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("tensor")) return tile(instruction);
  if (modifiers.take("reduce")) return reduce(instruction);
  if (modifiers.take("commit_group")) return group(instruction, BulkGroupStep::commit);
  if (modifiers.take("wait_group"))
    return group(instruction,
                 modifiers.take("read") ? BulkGroupStep::wait_read : BulkGroupStep::wait);
  if (modifiers.take("prefetch")) return prefetch(instruction);
  if (modifiers.take("bulk_group")) return store(instruction);
  load(instruction);
}

void BulkCopyReader::expect(PtxInstruction& instruction, std::size_t arguments, std::size_t hints) {
  instruction.expect_arguments(arguments + hints, arguments + hints);
  if (hints != 0) instruction.operation.mode = read_cache_hint(instruction, code_, operands_);
}

void BulkCopyReader::begin(PtxInstruction& instruction, BulkCopyForm form,
                           const Argument& address) {
  ir::Operation& operation = instruction.operation;
  operation.opcode = Opcode::bulk_copy;
  operation.immediate = form.packed();
  operation.type = Type::b64;
  operation.elements = 2;  // the engine moves units of 16 bytes
  operation.space = form.step == BulkCopyStep::send ? Space::shared
                    : form.rank == 0                ? Space::global
                                                    : Space::generic;
  operation.cache = CacheOperator::cg;
  operation.sources.clear();
  operation.offset = 0;
  operands_.address(instruction, address);
}

void BulkCopyReader::finish(PtxInstruction& instruction, BulkCopyStep step, const Argument& global,
                            const ir::Operand& places, const Argument& count) {
  const ir::Operand size = bytes(instruction, count);
  begin(instruction, {step, 0}, global);
  instruction.operation.sources.push_back(places);
  instruction.operation.sources.push_back(size);
  code_.finish(instruction);
}

ir::Operand BulkCopyReader::pair(PtxInstruction& instruction, const ir::Operand& low,
                                 const ir::Operand& high) {
  ir::Operation pack = instruction.plain(Opcode::mov_pack, Type::b64);
  pack.guard = instruction.operation.guard;
  pack.sources = {low, high};
  pack.destinations = {ir::register_operand(code_.new_register(Type::b64))};
  const ir::Operand both = pack.destinations[0];
  code_.append(std::move(pack));
  return both;
}

ir::Operand BulkCopyReader::bytes(PtxInstruction& instruction, const Argument& argument) {
  const ir::Operand given = operands_.source(instruction, argument, Type::u32);
  const ir::Operand wide = ir::register_operand(code_.new_register(Type::b64));
  widen(code_, instruction, given, wide, Type::u64);
  return wide;
}

BulkCopyReader::LoadKind BulkCopyReader::take_load(PtxInstruction& instruction, bool may_send) {
  Modifiers& modifiers = instruction.modifiers;
  const bool of_cluster = modifiers.take("shared::cluster");
  const bool is_own = modifiers.take("shared::cta");
  const bool is_global = modifiers.take("global");
  if (is_global ? of_cluster == is_own : !of_cluster || !is_own || !may_send)
    instruction.fail(may_send
                         ? "copies from .global or .shared::cta to .shared::cluster, from .global "
                           "to .shared::cta, or from .shared::cta to .global with .bulk_group"
                         : "copies from .global to .shared::cluster or .shared::cta");
  if (!modifiers.take("mbarrier::complete_tx::bytes"))
    instruction.fail("needs .mbarrier::complete_tx::bytes");
  const bool multicast = modifiers.take("multicast::cluster");
  if (multicast && !(of_cluster && is_global))
    instruction.fail(".multicast::cluster is for copies from .global to .shared::cluster");
  return is_global ? multicast ? LoadKind::multicast : LoadKind::plain : LoadKind::send;
}

/// The mask of ranks stands before the policy that a hint names.
ir::Operand BulkCopyReader::ranks(PtxInstruction& instruction, std::size_t which) {
  const ir::Operand given = operands_.source(instruction, instruction.argument(which), Type::b16);
  if (given.kind == Kind::immediate) return given;
  ir::Operation extend = instruction.plain(Opcode::cvt, Type::u32);
  extend.source_type = Type::u16;
  extend.guard = instruction.operation.guard;
  extend.sources = {given};
  extend.destinations = {ir::register_operand(code_.new_register(Type::b32))};
  const ir::Operand mask = extend.destinations[0];
  code_.append(std::move(extend));
  return mask;
}

void BulkCopyReader::load(PtxInstruction& instruction) {
  const LoadKind kind = take_load(instruction, true);
  const bool multicast = kind == LoadKind::multicast;
  const std::size_t hints = take_cache_hint(instruction.modifiers);
  instruction.refuse_known();
  expect(instruction, multicast ? 5 : 4, hints);
  const ir::Operand to = shared_address(code_, operands_, instruction, instruction.argument(0));
  const ir::Operand barrier =
      shared_address(code_, operands_, instruction, instruction.argument(3));
  const ir::Operand both = pair(instruction, to, barrier);
  const Argument &from = instruction.argument(1), &count = instruction.argument(2);
  if (kind != LoadKind::multicast)
    return finish(instruction, kind == LoadKind::send ? BulkCopyStep::send : BulkCopyStep::load,
                  from, both, count);
  const ir::Operand size = bytes(instruction, count);
  const ir::Operand to_ranks = pair(instruction, ranks(instruction, 4), ir::immediate_operand(0));
  begin(instruction, {BulkCopyStep::load, 0, true}, from);
  for (const ir::Operand& source : {both, size, to_ranks})
    instruction.operation.sources.push_back(source);
  code_.finish(instruction);
}

void BulkCopyReader::store(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("global") || !modifiers.take("shared::cta"))
    instruction.fail("copies from .shared::cta to .global with .bulk_group");
  if (modifiers.has("cp_mask")) instruction.fail("masks of bytes are not supported");
  const std::size_t hints = take_cache_hint(modifiers);
  expect(instruction, 3, hints);
  const ir::Operand from = shared_address(code_, operands_, instruction, instruction.argument(1));
  const ir::Operand both = pair(instruction, from, ir::immediate_operand(0));
  finish(instruction, BulkCopyStep::store, instruction.argument(0), both, instruction.argument(2));
}

void BulkCopyReader::take_operation(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, AtomicOperation> operations[] = {
      {"add", AtomicOperation::add},       {"min", AtomicOperation::min},
      {"max", AtomicOperation::max},       {"inc", AtomicOperation::inc},
      {"dec", AtomicOperation::dec},       {"and", AtomicOperation::logical_and},
      {"or", AtomicOperation::logical_or}, {"xor", AtomicOperation::logical_xor}};
  instruction.operation.atomic = instruction.modifiers.take_one(operations, AtomicOperation::none);
  if (instruction.operation.atomic == AtomicOperation::none)
    instruction.fail("needs .add, .min, .max, .inc, .dec, .and, .or or .xor");
}

void BulkCopyReader::reduce(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  instruction.refuse_known();
  if (modifiers.take("shared::cluster")) return reduce_in_cluster(instruction);
  if (!modifiers.take("bulk_group") || !modifiers.take("global") || !modifiers.take("shared::cta"))
    instruction.fail("reduces from .shared::cta to .global with .bulk_group");
  take_operation(instruction);
  const Type type = modifiers.take_type();
  if (type == Type::none) instruction.lacks_type();
  const bool is_half_sum = instruction.operation.atomic == AtomicOperation::add &&
                           (type == Type::f16 || type == Type::bf16);
  if (!reduction_exists(instruction.operation.atomic, type) ||
      modifiers.take("noftz") != is_half_sum)
    instruction.fail("has no such operation on this type");
  const std::size_t hints = take_cache_hint(modifiers);
  expect(instruction, 3, hints);
  const ir::Operand from = shared_address(code_, operands_, instruction, instruction.argument(1));
  const ir::Operand both = pair(instruction, from, ir::immediate_operand(0));
  const ir::Operand size = bytes(instruction, instruction.argument(2));
  begin(instruction, {BulkCopyStep::reduce, 0}, instruction.argument(0));
  instruction.operation.type = type;
  instruction.operation.elements = 1;
  instruction.operation.sources.push_back(both);
  instruction.operation.sources.push_back(size);
  code_.finish(instruction);
}

/// PTX has fewer operations here than for global memory.
void BulkCopyReader::reduce_in_cluster(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("shared::cta") || !modifiers.take("mbarrier::complete_tx::bytes"))
    instruction.fail(
        "reduces from .shared::cta to .shared::cluster with .mbarrier::complete_tx::bytes");
  take_operation(instruction);
  const AtomicOperation operation = instruction.operation.atomic;
  const Type type = modifiers.take_type();
  if (type == Type::none) instruction.lacks_type();
  const bool is_word = type == Type::u32 || type == Type::s32;
  const bool is_wide_sum =
      operation == AtomicOperation::add && (type == Type::u64 || type == Type::s64);
  const bool is_of_bits = type == Type::b32 && operation != AtomicOperation::add;
  if (!reduction_exists(operation, type) || !(is_word || is_wide_sum || is_of_bits))
    instruction.fail("has no such operation on this type");
  expect(instruction, 4, 0);
  const ir::Operand to = shared_address(code_, operands_, instruction, instruction.argument(0));
  const ir::Operand barrier =
      shared_address(code_, operands_, instruction, instruction.argument(3));
  const ir::Operand both = pair(instruction, to, barrier);
  const ir::Operand size = bytes(instruction, instruction.argument(2));
  begin(instruction, {BulkCopyStep::send, 0}, instruction.argument(1));
  instruction.operation.type = type;
  instruction.operation.elements = 1;
  instruction.operation.sources.push_back(both);
  instruction.operation.sources.push_back(size);
  code_.finish(instruction);
}

void BulkCopyReader::prefetch(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("L2") || !modifiers.take("global"))
    instruction.fail("prefetches .L2 from .global");
  const std::size_t hints = take_cache_hint(modifiers);
  expect(instruction, 2, hints);
  finish(instruction, BulkCopyStep::prefetch, instruction.argument(0), ir::immediate_operand(0),
         instruction.argument(1));
}

void BulkCopyReader::group(PtxInstruction& instruction, BulkGroupStep step) {
  instruction.operation.opcode = Opcode::bulk_group;
  instruction.operation.mode = static_cast<std::uint16_t>(step);
  finish_group_step(code_, operands_, instruction, step != BulkGroupStep::commit,
                    "cp.async.bulk.wait_group");
}

}  // namespace lockstep::isa
