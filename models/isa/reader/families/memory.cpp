/// Loads, stores, atomics, fences and prefetches.
/// Source: PTX ISA 8.x, sections 9.7.9 and 9.7.13, "Memory Consistency Model" 8.
///
/// Eviction priorities of the L2, their own or those of a policy, go with loads, stores, atomics,
/// prefetches and asynchronous copies to the L2 (l2_hint.hpp).
///
/// Own choice, since nothing is published: discard leaves the bytes, which are undefined according
/// to the manual, and the L2 does not write the line back.
///
/// Simplified: hints to L1 and prefetch sizes are read and have no effect.  The policy of an access
/// is the last createpolicy or constant in the text that writes its register. A policy of a range
/// gives all lines its primary priority, and a converted policy has no effect. All accesses take
/// the same path, and no two virtual addresses lead to the same memory. So fence.proxy.alias and
/// .async have nothing to order and are not executed; fences of tensor maps, which also order
/// ordinary accesses between threads, are plain fences.
#include "models/isa/reader/families/memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/isa/reader/families/qualifiers.hpp"

namespace lockstep::isa {

void MemoryReader::load(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  const std::size_t hints = take_cache_hint(instruction.modifiers);
  read_qualifiers(instruction);
  operation.type = read_memory_type(instruction);
  if (operation.elements > 4)
    instruction.fail("vectors of 8 are not supported in this release: use two of .v4");
  instruction.expect_arguments(2 + hints, 2 + hints);
  if (hints > 0) operation.mode = read_cache_hint(instruction, code_, operands_);
  for (const Argument& to : elements(code_, instruction, instruction.argument(0)))
    operation.destinations.push_back(operands_.destination(instruction, to, operation.type, true));
  if (operation.space == Space::parameter && parameter_access(instruction, false)) return;
  operands_.address(instruction, instruction.argument(1));
  code_.finish(instruction);
}

void MemoryReader::store(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  const std::size_t hints = take_cache_hint(instruction.modifiers);
  read_qualifiers(instruction);
  operation.type = read_memory_type(instruction);
  if (operation.elements > 4)
    instruction.fail("vectors of 8 are not supported in this release: use two of .v4");
  instruction.expect_arguments(2 + hints, 2 + hints);
  if (hints > 0) operation.mode = read_cache_hint(instruction, code_, operands_);
  std::vector<ir::Operand> data;
  for (const Argument& from : elements(code_, instruction, instruction.argument(1)))
    data.push_back(operands_.source(instruction, from, operation.type, true));
  if (operation.space == Space::parameter) {
    operation.sources = std::move(data);
    if (!parameter_access(instruction, true))
      instruction.fail("kernel parameters cannot be stored to: copy them to a register or .local");
    return;
  }
  if (operation.space == Space::constant)
    instruction.fail("constant memory cannot be stored to: declare the variable .global");
  operands_.address(instruction, instruction.argument(0));
  operation.sources.insert(operation.sources.end(), data.begin(), data.end());
  code_.finish(instruction);
}

/// Reads an access in .param space: kernel parameters become moves of constants; those of calls are
/// registers, or memory of the thread for structures.  Returns false for an ordinary access by
/// address.
bool MemoryReader::parameter_access(PtxInstruction& instruction, bool is_store) {
  const Argument& written = instruction.argument(is_store ? 0 : 1);
  if (written.kind != Argument::Kind::address || written.children.size() != 1 ||
      written.children[0].kind != Argument::Kind::name)
    instruction.fail(written.at, "malformed address of a parameter",
                     "write it as [name + constant]");
  const Argument& name = written.children[0];
  const Symbol symbol = code_.find(name);
  if (!instruction.modifiers.rest().empty()) instruction.fail("modifier is not supported here");
  switch (symbol.kind) {
    case Symbol::Kind::kernel_parameter:
      if (is_store) return false;
      read_kernel_parameter(instruction, name, symbol);
      return true;
    case Symbol::Kind::parameter:
      move_parameter(instruction, name, symbol, is_store);
      return true;
    case Symbol::Kind::parameter_bytes:
    case Symbol::Kind::parameter_pointer: {
      ir::Operand base;
      base.kind = symbol.kind == Symbol::Kind::parameter_bytes ? Kind::local_symbol : Kind::reg;
      base.index = symbol.index;
      base.type = Type::b32;
      ir::Operation operation = instruction.operation;
      operation.space = Space::local;
      operation.offset = name.addend;
      operation.sources.insert(operation.sources.begin(), base);
      code_.append(std::move(operation));
      return true;
    }
    default:
      if (!code_.source().is_entry) instruction.operation.space = Space::generic;
      return false;
  }
}

void MemoryReader::read_kernel_parameter(PtxInstruction& instruction, const syntax::Operand& name,
                                         const Symbol& symbol) {
  const ir::Operation operation = instruction.operation;
  const unsigned bytes = bytes_of(operation.type);
  if (name.addend < 0 ||
      static_cast<std::uint64_t>(name.addend) + bytes * operation.elements > symbol.bytes)
    instruction.fail(name.at, "access beyond parameter " + name.text,
                     "its bytes are those that the kernel declares");
  for (unsigned e = 0; e < operation.elements; ++e) {
    const ir::Operand& to = operation.destinations[e];
    ir::Operation read = instruction.plain(Opcode::mov, code_.register_type(to, operation.type));
    if (bytes_of(read.type) < 2) read.type = Type::b16;
    read.guard = operation.guard;
    ir::Operand from;
    from.kind = Kind::parameter;
    from.type = operation.type;
    from.value = static_cast<std::int64_t>(symbol.value) + name.addend + std::int64_t{e} * bytes;
    read.destinations.push_back(to);
    read.destinations.back().type = Type::none;
    read.sources.push_back(from);
    code_.append(std::move(read));
  }
}

/// Moves a parameter of a call that is held in a register: widened or cut as the access says.
void MemoryReader::move_parameter(PtxInstruction& instruction, const syntax::Operand& name,
                                  const Symbol& symbol, bool is_store) {
  const ir::Operation operation = instruction.operation;
  const unsigned bytes = bytes_of(operation.type);
  if (name.addend != 0 || operation.elements != 1 || bytes > symbol.bytes)
    instruction.fail(name.at, "part of parameter " + name.text + " is not supported",
                     "access all of it, or declare it as an array of bytes");
  ir::Operand held;
  held.kind = Kind::reg;
  held.index = symbol.index;
  const ir::Operand from = is_store ? operation.sources[0] : held;
  const ir::Operand to = is_store ? held : operation.destinations[0];
  const Type have = code_.register_type(from, operation.type),
             need = code_.register_type(to, operation.type);
  const bool narrow = bytes < bytes_of(need) || bytes < bytes_of(have);
  ir::Operation copy =
      instruction.plain(narrow && from.kind == Kind::reg ? Opcode::cvt : Opcode::mov, need);
  copy.guard = operation.guard;
  copy.sources.push_back(from);
  copy.destinations.push_back(to);
  copy.sources[0].type = copy.destinations[0].type = Type::none;
  if (copy.opcode == Opcode::cvt) {
    static constexpr Type unsigned_types[] = {Type::none, Type::u8,   Type::u16,
                                              Type::none, Type::u32,  Type::none,
                                              Type::none, Type::none, Type::u64};
    static constexpr Type signed_types[] = {Type::none, Type::s8,   Type::s16,
                                            Type::none, Type::s32,  Type::none,
                                            Type::none, Type::none, Type::s64};
    const auto& table = is_signed(operation.type) ? signed_types : unsigned_types;
    copy.source_type = table[bytes];
    copy.type = table[bytes_of(need)];
    if (bytes_of(have) > bytes) copy.sources[0].type = have;
  }
  code_.append(std::move(copy));
}

void MemoryReader::fence(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("mbarrier_init")) return fence_of_barriers(instruction);
  const bool proxy = modifiers.take("proxy");
  if (proxy && modifiers.take("async")) return fence_of_asynchronous_reads(instruction);
  if (proxy && modifiers.take("alias")) {
    instruction.expect_arguments(0, 0);
    instruction.reject_rest();
    return;
  }
  if (proxy && !modifiers.take("tensormap::generic"))
    instruction.fail("unknown kind of proxy (.alias, .async and .tensormap::generic are there)");
  const bool old = modifiers.base() == "membar";
  operation.ordering = take_ordering(modifiers, old ? Ordering::sc : Ordering::acq_rel);
  operation.scope = take_scope(modifiers);
  if (operation.scope == Scope::none) {
    instruction.refuse_known();
    instruction.fail("needs a scope: .cta, .cluster, .gpu or .sys");
  }
  // The bytes that a fence of a tensor map names do not matter.
  const std::size_t operands = proxy && operation.ordering == Ordering::acquire ? 2 : 0;
  instruction.expect_arguments(operands, operands);
  code_.finish(instruction);
}

/// Reads a fence of asynchronous reads.  The lowering removes it, since the machine has one path to
/// memory; checks of a program use it (interpreter/races/proxy_writes.hpp).
void MemoryReader::fence_of_asynchronous_reads(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  const bool is_global = modifiers.take("global");
  if (!is_global && !modifiers.take("shared::cta")) modifiers.take("shared::cluster");
  instruction.expect_arguments(0, 0);
  instruction.operation.ordering = Ordering::weak;
  instruction.operation.scope = Scope::cta;
  if (is_global) return instruction.reject_rest();
  code_.finish(instruction);
}

/// Reads a fence of initialised barriers, which has no effect: all units of the SM see them at
/// once.
void MemoryReader::fence_of_barriers(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("release") || !modifiers.take("cluster"))
    instruction.fail("fence.mbarrier_init.release.cluster is the only form");
  instruction.expect_arguments(0, 0);
  instruction.reject_rest();
}

void MemoryReader::prefetch(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  if (instruction.modifiers.take("tensormap")) return prefetch_map(instruction);
  operation.space = take_space(instruction.modifiers);
  const L2Priority priority = take_l2_priority(instruction.modifiers, L2Priority::unchanged);
  if (priority != L2Priority::unchanged) ask_for(instruction, priority);
  instruction.modifiers.take("L2");
  instruction.modifiers.take("L1");
  instruction.modifiers.drop_starting("L2::");
  instruction.expect_arguments(1, 1);
  operands_.address(instruction, instruction.argument(0));
  code_.finish(instruction);
}

/// Gives a line a priority by a prefetch to the L2, which bypasses L1: there a prefetch would end.
void MemoryReader::ask_for(PtxInstruction& instruction, L2Priority priority) {
  instruction.operation.mode = L2Hint{.primary = priority}.packed();
  instruction.operation.cache = CacheOperator::cg;
}

/// A line that is not in the L2 is prefetched first, says the manual.
void MemoryReader::apply_priority(PtxInstruction& instruction) {
  instruction.operation.space = take_space(instruction.modifiers);
  if (!instruction.modifiers.take("L2::evict_normal")) instruction.fail("needs .L2::evict_normal");
  ask_for(instruction, L2Priority::normal);
  instruction.operation.mode |= l2_hint_only;
  expect_line(instruction);
  code_.finish(instruction);
}

void MemoryReader::discard(PtxInstruction& instruction) {
  instruction.operation.space = take_space(instruction.modifiers);
  if (!instruction.modifiers.take("L2")) instruction.fail("needs .L2");
  instruction.operation.cache = CacheOperator::cg;
  instruction.operation.mode = l2_hint_only | l2_discards;
  expect_line(instruction);
  code_.finish(instruction);
}

/// Requires an address and the size of a line.
void MemoryReader::expect_line(PtxInstruction& instruction) {
  instruction.expect_arguments(2, 2);
  operands_.address(instruction, instruction.argument(0));
  const ir::Operand size = operands_.source(instruction, instruction.argument(1), Type::b32);
  if (code_.constant_in(size) != 128)
    instruction.fail(instruction.argument(1).at, "the size is that of a line", "write 128");
}

void MemoryReader::prefetch_map(PtxInstruction& instruction) {
  take_space(instruction.modifiers);
  instruction.expect_arguments(1, 1);
  operands_.address(instruction, instruction.argument(0));
  instruction.reject_rest();
}

void MemoryReader::create_policy(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  const bool fractional = modifiers.take("fractional"), range = modifiers.take("range");
  const bool converts = modifiers.take("cvt");
  if (fractional + range + converts != 1) instruction.fail("needs .fractional, .range or .cvt");
  take_space(modifiers);
  modifiers.take("L2");
  L2Hint hint;
  hint.primary = take_l2_priority(modifiers, L2Priority::unchanged);
  hint.secondary = take_l2_priority(modifiers, L2Priority::unchanged);
  modifiers.drop_starting("L2::");
  if (modifiers.take_type() != Type::b64) instruction.fail("needs .b64");
  instruction.expect_arguments(range ? 4 : converts ? 2 : 1, range ? 4 : 2);
  ir::Operation made = instruction.plain(Opcode::mov, Type::b64);
  made.guard = instruction.operation.guard;
  made.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), Type::b64));
  if (range) operands_.address(instruction, instruction.argument(1));
  if (fractional && instruction.arguments() == 2)
    hint.sixteenths = policy_fraction(instruction, instruction.argument(1));
  ir::Operand policy =
      ir::immediate_operand(converts ? 0 : static_cast<std::int64_t>(l2_policy(hint)));
  policy.type = Type::b64;
  made.sources.push_back(policy);
  instruction.reject_rest();
  code_.append(std::move(made));
}

/// Returns the fraction in sixteenths; all sixteenths if the text does not tell it.
std::uint8_t MemoryReader::policy_fraction(PtxInstruction& instruction, const Argument& written) {
  const auto bits = code_.constant_in(operands_.source(instruction, written, Type::f32));
  if (!bits) return 16;
  const float fraction = std::bit_cast<float>(static_cast<std::uint32_t>(*bits));
  if (!(fraction > 0.0F && fraction <= 1.0F))
    instruction.fail(written.at, "the fraction of a policy is above 0 and at most 1",
                     "leave it out for all lines");
  return static_cast<std::uint8_t>(std::max(1.0F, std::round(fraction * 16.0F)));
}

}  // namespace lockstep::isa
