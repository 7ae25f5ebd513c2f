/// Common subexpression elimination: a pure operation on registers written once is not computed
/// again if a dominating block, or this block before, has computed it; its result is read.
/// Source: own choice, in the textbook form.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

using Key = std::vector<std::int64_t>;

void append(Key& key, const ir::Operand& operand) {
  key.insert(key.end(), {static_cast<int>(operand.kind), operand.negated,
                         static_cast<std::int64_t>(operand.index), operand.value,
                         static_cast<int>(operand.type)});
}

Key key_of(const ir::Operation& o, const ir::Function& function) {
  Key key{static_cast<int>(o.opcode),
          static_cast<int>(o.type),
          static_cast<int>(o.source_type),
          static_cast<int>(o.space),
          static_cast<int>(o.rounding),
          static_cast<int>(o.comparison),
          static_cast<int>(o.combination),
          static_cast<int>(o.part),
          static_cast<int>(o.atomic),
          o.flush,
          o.saturate,
          o.relu,
          o.nan,
          o.approximate,
          o.full,
          o.wrap,
          o.shift_amount,
          o.mode,
          o.immediate,
          static_cast<int>(o.destinations[0].kind),
          static_cast<int>(o.destinations[0].type),
          bytes_of(function.registers[o.destinations[0].index].type)};
  for (const ir::Operand& source : o.sources) append(key, source);
  return key;
}

bool is_candidate(const ir::Operation& operation, const Definitions& definitions) {
  return is_pure(operation) && !is_guarded(operation) && !operation.carry_out &&
         operation.destinations.size() == 1 && is_register(operation.destinations[0]) &&
         definitions.is_single(operation.destinations[0].index) &&
         definitions.sources_are_single(operation);
}

/// Results of one computation.  No block of one dominates that of another, which would otherwise
/// read it.
class Computed {
 public:
  /// Returns the result in a block that dominates this one.
  std::optional<std::uint32_t> find(const Flow& flow, std::uint32_t block) const {
    auto next = results_.upper_bound(flow.tree_place[block]);
    if (next == results_.begin()) return {};
    const auto& [home, result] = std::prev(next)->second;
    return flow.dominates(home, block) ? std::optional(result) : std::nullopt;
  }
  void add(const Flow& flow, std::uint32_t block, std::uint32_t result) {
    results_.emplace(flow.tree_place[block], std::pair(block, result));
  }

 private:
  /// Block and register, by the block's place in the dominator tree.
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> results_;
};

}  // namespace

bool eliminate_common(ir::Function& function) {
  const Flow flow(function);
  const Definitions definitions(function);
  std::map<Key, Computed> known;
  std::vector<std::uint32_t> replacement(function.registers.size(), ir::no_register);
  bool changed = false;
  for (std::uint32_t b : flow.order)
    for (ir::Operation& operation : function.blocks[b].operations) {
      for_each_use(operation, [&](ir::Operand& use) {
        if (replacement[use.index] != ir::no_register) use.index = replacement[use.index];
      });
      if (!is_candidate(operation, definitions)) continue;
      Computed& same = known[key_of(operation, function)];
      const std::uint32_t result = operation.destinations[0].index;
      if (const auto before = same.find(flow, b)) {
        replacement[result] = *before;
        operation = ir::Operation{};  // a nop, which dead code elimination removes
        changed = true;
      } else {
        same.add(flow, b, result);
      }
    }
  // Results of the function are read at its end, by no operation.
  for (ir::Operand& result : function.results)
    if (is_register(result) && replacement[result.index] != ir::no_register)
      result.index = replacement[result.index];
  return changed;
}

}  // namespace lockstep::isa::lowering
