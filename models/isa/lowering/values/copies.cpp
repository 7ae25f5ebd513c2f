/// Copy propagation: users of a copy read the original.
///
/// Registers written once are replaced everywhere, others within the block while neither end
/// changes.  Conversions that keep the 32-bit row (unsigned widening: narrow values are stored
/// zero-extended) and cvta between global and generic addresses are copies too.
/// Source: architecture.md, section 3 "isa".
#include <map>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

bool keeps_row(const ir::Operation& operation, Type from, Type to) {
  if (bytes_of(operation.type) == bytes_of(operation.source_type) && bytes_of(from) == bytes_of(to))
    return bytes_of(from) == bytes_of(operation.type);
  return !is_signed(operation.source_type) && bytes_of(from) == bytes_of(operation.source_type) &&
         bytes_of(operation.type) > bytes_of(from) && bytes_of(to) <= 4;
}

bool is_copy(const ir::Function& function, const ir::Operation& operation) {
  if (is_guarded(operation) || operation.destinations.size() != 1 || operation.sources.size() != 1)
    return false;
  const ir::Operand& to = operation.destinations[0];
  const ir::Operand& from = operation.sources[0];
  if (!is_register(to) || !is_register(from) || to.kind != from.kind || from.negated) return false;
  const Type to_type = function.registers[to.index].type;
  const Type from_type = function.registers[from.index].type;
  switch (operation.opcode) {
    case Opcode::mov:
      return bytes_of(to_type) == bytes_of(from_type);
    case Opcode::cvta:
      return (operation.space == Space::global || operation.space == Space::constant ||
              operation.space == Space::generic) &&
             bytes_of(to_type) == bytes_of(from_type);
    case Opcode::cvt:
      return !is_float(operation.type) && !is_float(operation.source_type) && !operation.saturate &&
             keeps_row(operation, from_type, to_type);
    default:
      return false;
  }
}

bool replace_everywhere(ir::Function& function) {
  const Definitions definitions(function);
  std::map<std::uint32_t, std::uint32_t> original;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (is_copy(function, operation) && definitions.is_single(operation.destinations[0].index) &&
          definitions.is_single(operation.sources[0].index))
        original[operation.destinations[0].index] = operation.sources[0].index;
  if (original.empty()) return false;
  bool changed = false;
  const auto replace = [&](ir::Operand& use) {
    for (auto it = original.find(use.index); it != original.end(); it = original.find(use.index)) {
      use.index = it->second;
      changed = true;
    }
  };
  for (ir::Block& block : function.blocks)
    for (ir::Operation& operation : block.operations) for_each_use(operation, replace);
  return changed;
}

bool replace_in_block(const ir::Function& function, ir::Block& block) {
  std::map<std::uint32_t, std::uint32_t> original;
  bool changed = false;
  for (ir::Operation& operation : block.operations) {
    for_each_use(operation, [&](ir::Operand& use) {
      const auto it = original.find(use.index);
      if (it == original.end()) return;
      use.index = it->second;
      changed = true;
    });
    for_each_definition(operation, [&](const ir::Operand& definition) {
      for (auto it = original.begin(); it != original.end();)
        it = it->first == definition.index || it->second == definition.index ? original.erase(it)
                                                                             : std::next(it);
    });
    if (is_copy(function, operation) &&
        operation.destinations[0].index != operation.sources[0].index)
      original[operation.destinations[0].index] = operation.sources[0].index;
  }
  return changed;
}

}  // namespace

bool propagate_copies(ir::Function& function) {
  bool changed = replace_everywhere(function);
  for (ir::Block& block : function.blocks) changed = replace_in_block(function, block) || changed;
  return changed;
}

}  // namespace lockstep::isa::lowering
