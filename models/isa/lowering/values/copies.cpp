/// Copy propagation: users of a copy read the original.
///
/// Registers written once are replaced everywhere, others within the block while neither end
/// changes.  Conversions that keep the 32-bit row (unsigned widening: narrow values are stored
/// zero-extended) and cvta between global and generic addresses are copies too.
/// Source: architecture.md, section 3 "isa".
#include <optional>
#include <unordered_map>
#include <vector>

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
  std::unordered_map<std::uint32_t, std::uint32_t> original;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (is_copy(function, operation) && definitions.is_single(operation.destinations[0].index) &&
          definitions.is_single(operation.sources[0].index))
        original[operation.destinations[0].index] = operation.sources[0].index;
  if (original.empty()) return false;
  bool changed = false;
  // Chains of copies are shortened on the way, so that none is walked twice.
  const auto first_of = [&](std::uint32_t index) {
    std::uint32_t first = index;
    for (auto it = original.find(first); it != original.end(); it = original.find(first))
      first = it->second;
    for (auto it = original.find(index); it != original.end() && it->second != first;
         it = original.find(index)) {
      index = it->second;
      it->second = first;
    }
    return first;
  };
  const auto replace = [&](ir::Operand& use) {
    const std::uint32_t first = first_of(use.index);
    changed = changed || first != use.index;
    use.index = first;
  };
  for (ir::Block& block : function.blocks)
    for (ir::Operation& operation : block.operations) for_each_use(operation, replace);
  return changed;
}

/// Copies that hold at a place of a block.
class Copies {
 public:
  std::optional<std::uint32_t> original_of(std::uint32_t copy) const {
    const auto found = original_.find(copy);
    return found == original_.end() ? std::nullopt : std::optional(found->second);
  }
  void add(std::uint32_t copy, std::uint32_t original) {
    original_[copy] = original;
    copies_[original].push_back(copy);
  }
  /// Forgets the register's copies, and that it is a copy, because it is written.
  void forget(std::uint32_t index) {
    original_.erase(index);
    const auto found = copies_.find(index);
    if (found == copies_.end()) return;
    for (const std::uint32_t copy : found->second)
      if (const auto it = original_.find(copy); it != original_.end() && it->second == index)
        original_.erase(it);
    copies_.erase(found);
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> original_;
  /// Copies of each register; some are outdated.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> copies_;
};

bool replace_in_block(const ir::Function& function, ir::Block& block) {
  Copies copies;
  bool changed = false;
  for (ir::Operation& operation : block.operations) {
    for_each_use(operation, [&](ir::Operand& use) {
      const auto original = copies.original_of(use.index);
      if (!original) return;
      use.index = *original;
      changed = true;
    });
    for_each_definition(operation, [&](const ir::Operand& d) { copies.forget(d.index); });
    if (is_copy(function, operation) &&
        operation.destinations[0].index != operation.sources[0].index)
      copies.add(operation.destinations[0].index, operation.sources[0].index);
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
