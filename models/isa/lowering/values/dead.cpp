/// Dead code elimination: operations without side effects and without readers of their results.
/// Source: architecture.md, section 3 "isa".
#include <algorithm>

#include "models/isa/lowering/analysis/liveness.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

bool is_self_copy(const ir::Operation& operation) {
  return operation.opcode == Opcode::mov && operation.sources.size() == 1 &&
         is_register(operation.sources[0]) && operation.destinations.size() == 1 &&
         operation.destinations[0].index == operation.sources[0].index;
}

bool is_dead(const ir::Operation& operation, const RegisterSet& live) {
  if (operation.opcode == Opcode::nop) return true;
  if (has_side_effect(operation)) return false;
  bool read = false;
  for_each_definition(operation,
                      [&](const ir::Operand& d) { read = read || live.contains(d.index); });
  return !read || is_self_copy(operation);
}

// Turns an atomic whose old value is never read into a reduction, which gets no answer.
bool becomes_reduction(ir::Operation& operation, const RegisterSet& live) {
  if (operation.opcode != Opcode::atom || operation.destinations.empty() ||
      operation.atomic == AtomicOperation::cas || operation.atomic == AtomicOperation::exch)
    return false;
  for (const ir::Operand& d : operation.destinations)
    if (is_register(d) && live.contains(d.index)) return false;
  operation.opcode = Opcode::red;
  operation.destinations.clear();
  return true;
}

}  // namespace

bool eliminate_dead(ir::Function& function) {
  const Flow flow(function);
  const Liveness liveness(function, flow);
  LiveWalker walker(function);
  bool changed = false;
  for (std::uint32_t b : flow.order) {
    auto& operations = function.blocks[b].operations;
    walker.begin(liveness.live_out[b]);
    std::vector<ir::Operation> kept;
    for (auto o = operations.size(); o-- > 0;) {
      if (is_dead(operations[o], walker.live())) {
        changed = true;
        continue;
      }
      changed = becomes_reduction(operations[o], walker.live()) || changed;
      walker.step_back(operations[o]);
      kept.push_back(std::move(operations[o]));
    }
    std::reverse(kept.begin(), kept.end());
    operations = std::move(kept);
  }
  return changed;
}

}  // namespace lockstep::isa::lowering
