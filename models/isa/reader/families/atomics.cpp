/// atom and red, of single values, vectors and 128 bits.
/// Source: PTX ISA 8.x, "atom", "red".
#include "models/isa/reader/families/atomics.hpp"

#include "models/isa/atomic.hpp"
#include "models/isa/reader/families/qualifiers.hpp"

namespace lockstep::isa {

namespace {

constexpr std::pair<std::string_view, AtomicOperation> atomic_operations[] = {
    {"and", AtomicOperation::logical_and}, {"or", AtomicOperation::logical_or},
    {"xor", AtomicOperation::logical_xor}, {"cas", AtomicOperation::cas},
    {"exch", AtomicOperation::exch},       {"add", AtomicOperation::add},
    {"inc", AtomicOperation::inc},         {"dec", AtomicOperation::dec},
    {"min", AtomicOperation::min},         {"max", AtomicOperation::max}};

}  // namespace

void AtomicReader::atomic(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  const bool returns = operation.opcode == Opcode::atom;
  // Operations share words with nothing that qualifies memory.
  operation.atomic = modifiers.take_one(atomic_operations, AtomicOperation::none);
  const std::size_t hints = take_cache_hint(modifiers);
  read_qualifiers(instruction);
  if (operation.ordering == Ordering::weak) operation.ordering = Ordering::relaxed;
  if (operation.scope == Scope::none) operation.scope = Scope::gpu;
  modifiers.take("noftz");
  operation.flush = modifiers.take("ftz");
  const bool vector = operation.elements > 1;
  operation.type = read_memory_type(instruction);
  instruction.refuse_known();
  if (operation.atomic == AtomicOperation::none) instruction.fail("needs an operation");
  if (!atomic_exists({operation.atomic, operation.type, operation.elements}) ||
      (vector && operation.type == Type::b64))
    instruction.fail("there is no such atomic");
  const bool in_global = operation.space == Space::generic || operation.space == Space::global;
  const bool in_shared =
      operation.space == Space::shared || operation.space == Space::shared_cluster;
  if (!in_global && (vector || !in_shared)) instruction.fail("state space is not supported");
  const std::size_t first = returns ? 1 : 0;
  const std::size_t data = operation.atomic == AtomicOperation::cas ? 2 : 1;
  instruction.expect_arguments(first + 1 + data + hints, first + 1 + data + hints);
  if (hints > 0) operation.mode = read_cache_hint(instruction, code_, operands_);
  if (returns)
    for (const Argument& to : elements(code_, instruction, instruction.argument(0)))
      operation.destinations.push_back(operands_.destination(instruction, to, operation.type));
  operands_.address(instruction, instruction.argument(first));
  for (std::size_t i = 0; i < data; ++i)
    for (const Argument& from : elements(code_, instruction, instruction.argument(first + 1 + i)))
      operation.sources.push_back(operands_.source(instruction, from, operation.type));
  if (operation.elements == 8) return atomic_of_eight(instruction);
  code_.finish(instruction);
}

/// Reads an atomic of eight halves as one of four pairs: both guarantee atomicity of each half
/// only.
void AtomicReader::atomic_of_eight(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.elements = 4;
  operation.type = operation.type == Type::f16 ? Type::f16x2 : Type::bf16x2;
  const std::vector<ir::Operand> old = std::move(operation.destinations);
  const std::vector<ir::Operand> data(operation.sources.begin() + 1, operation.sources.end());
  operation.destinations.clear();
  operation.sources.resize(1);
  std::vector<ir::Operation> after;
  for (std::size_t pair = 0; pair < 4; ++pair) {
    const auto new_word = [&] {
      ir::Operand word;
      word.kind = Kind::reg;
      word.index = code_.new_register(Type::b32, "%pair");
      return word;
    };
    ir::Operation pack = instruction.plain(Opcode::mov_pack, Type::b32);
    pack.destinations.push_back(new_word());
    pack.sources = {data[2 * pair], data[2 * pair + 1]};
    operation.sources.push_back(pack.destinations[0]);
    code_.append(std::move(pack));
    if (old.empty()) continue;
    ir::Operation unpack = instruction.plain(Opcode::mov_unpack, Type::b32);
    unpack.guard = operation.guard;
    unpack.sources.push_back(new_word());
    unpack.destinations = {old[2 * pair], old[2 * pair + 1]};
    operation.destinations.push_back(unpack.sources[0]);
    after.push_back(std::move(unpack));
  }
  code_.finish(instruction);
  for (ir::Operation& unpack : after) code_.append(std::move(unpack));
}

}  // namespace lockstep::isa
