#include "models/isa/lowering/analysis/producers.hpp"

#include <algorithm>
#include <iterator>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

const ir::Operation* Producers::find(const ir::Operand& operand, Place use) const {
  if (!is_register(operand) || !definitions_.is_single(operand.index)) return nullptr;
  const auto& entry = definitions_[operand.index];
  if (entry.is_input) return nullptr;
  const Place at = entry.definition;
  const ir::Operation& operation = function_.blocks[at.block].operations[at.operation];
  if (is_guarded(operation) || operation.carry_out || operation.destinations.size() != 1 ||
      operation.destinations[0].index != operand.index)
    return nullptr;
  bool same = true;
  for_each_use(operation, [&](const ir::Operand& source) {
    same = same && (definitions_.is_single(source.index) || unchanged(source.index, at, use));
  });
  return same ? &operation : nullptr;
}

void Producers::list_writes() {
  first_write_.assign(function_.registers.size() + 1, 0);
  for (const ir::Block& block : function_.blocks)
    for (const ir::Operation& operation : block.operations)
      for_each_definition(operation, [&](const ir::Operand& d) { ++first_write_[d.index]; });
  std::uint32_t end = 0;
  for (std::uint32_t& first : first_write_) first = end += first;
  writes_.resize(end);
  for (auto b = static_cast<std::uint32_t>(function_.blocks.size()); b-- > 0;) {
    const auto& operations = function_.blocks[b].operations;
    for (auto o = static_cast<std::uint32_t>(operations.size()); o-- > 0;)
      for_each_definition(operations[o], [&](const ir::Operand& d) {
        writes_[--first_write_[d.index]] = {b, o};
      });
  }
}

namespace {

bool comes_before(const Place& a, const Place& b) {
  return a.block != b.block ? a.block < b.block : a.operation < b.operation;
}

}  // namespace

std::optional<std::uint32_t> Producers::last_write(std::uint32_t index, Place before) const {
  const auto first = writes_.begin() + first_write_[index];
  const auto last = writes_.begin() + first_write_[index + 1];
  const auto next = std::lower_bound(first, last, before, comes_before);
  if (next == first || std::prev(next)->block != before.block) return {};
  return std::prev(next)->operation;
}

std::optional<std::uint32_t> Producers::next_write(std::uint32_t index, Place behind) const {
  const auto first = writes_.begin() + first_write_[index];
  const auto last = writes_.begin() + first_write_[index + 1];
  const auto next = std::upper_bound(first, last, behind, comes_before);
  return next == last || next->block != behind.block ? std::nullopt
                                                     : std::optional(next->operation);
}

void Producers::move_write(std::uint32_t index, Place from, std::uint32_t to) {
  const auto first = writes_.begin() + first_write_[index];
  const auto last = writes_.begin() + first_write_[index + 1];
  const auto here = std::lower_bound(first, last, from, comes_before);
  here->operation = to;
  std::sort(first, last, comes_before);
}

// Within one block: nobody writes the register on the way.
bool Producers::unchanged(std::uint32_t index, Place from, Place to) const {
  if (from.block != to.block || from.operation >= to.operation) return false;
  const auto last = last_write(index, to);
  return !last || *last < from.operation;
}

}  // namespace lockstep::isa::lowering
