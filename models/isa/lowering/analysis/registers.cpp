#include "models/isa/lowering/analysis/registers.hpp"

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

Definitions::Definitions(const ir::Function& function) : entries(function.registers.size()) {
  for (const ir::Operand& input : function.inputs)
    if (is_register(input)) {
      ++entries[input.index].definitions;
      entries[input.index].is_input = true;
    }
  for (const ir::Operand& result : function.results)
    if (is_register(result)) ++entries[result.index].uses;
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const auto& operations = function.blocks[b].operations;
    for (std::uint32_t o = 0; o < operations.size(); ++o)
      for_each_definition(operations[o], [&](const ir::Operand& definition) {
        Entry& entry = entries[definition.index];
        ++entry.definitions;
        entry.guarded = entry.guarded || is_guarded(operations[o]);
        entry.definition = {b, o};
      });
  }
  find_uses(function);
}

void Definitions::find_uses(const ir::Function& function) {
  const Flow flow(function);
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const auto& operations = function.blocks[b].operations;
    for (std::uint32_t o = 0; o < operations.size(); ++o)
      for_each_use(operations[o], [&](const ir::Operand& use) {
        Entry& entry = entries[use.index];
        ++entry.uses;
        if (entry.is_input || entry.definitions != 1) return;
        const Place at = entry.definition;
        const bool before = at.block == b ? at.operation < o
                                          : flow.reachable(b) && flow.reachable(at.block) &&
                                                flow.dominates(at.block, b);
        entry.dominates = entry.dominates && before;
      });
  }
}

bool Definitions::sources_are_single(const ir::Operation& operation) const {
  bool single = true;
  for_each_use(operation, [&](const ir::Operand& use) { single = single && is_single(use.index); });
  return single;
}

bool RegisterSet::merge(const RegisterSet& other) {
  bool changed = false;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const std::uint64_t merged = words_[w] | other.words_[w];
    changed = changed || merged != words_[w];
    words_[w] = merged;
  }
  return changed;
}

std::size_t RegisterSet::size() const {
  std::size_t count = 0;
  for (std::uint64_t word : words_) count += static_cast<unsigned>(__builtin_popcountll(word));
  return count;
}

void LiveWalker::keep(std::uint32_t index) {
  live_.insert(index);
  only_under_.erase(index);
}

void LiveWalker::step_back(const ir::Operation& operation) {
  if (operation.opcode == Opcode::ret)
    for (const ir::Operand& result : function_.results)
      if (is_register(result)) keep(result.index);
  const bool guarded = is_guarded(operation);
  for_each_definition(operation, [&](const ir::Operand& d) {
    const auto tag = only_under_.find(d.index);
    if (!guarded || (tag != only_under_.end() && same_value(tag->second, operation.guard))) {
      live_.erase(d.index);
      only_under_.erase(d.index);
    }
    if (d.kind != Kind::predicate) return;
    // Above its definition the predicate says something else.
    for (auto it = only_under_.begin(); it != only_under_.end();)
      it = it->second.index == d.index ? only_under_.erase(it) : std::next(it);
  });
  for (const ir::Operand& use : operation.sources) {
    if (!is_register(use)) continue;
    if (!guarded) {
      keep(use.index);
    } else if (!live_.contains(use.index)) {
      live_.insert(use.index);
      only_under_[use.index] = operation.guard;
    } else if (const auto tag = only_under_.find(use.index);
               tag != only_under_.end() && !same_value(tag->second, operation.guard)) {
      only_under_.erase(tag);
    }
  }
  if (is_register(operation.guard)) keep(operation.guard.index);
}

namespace {

std::vector<RegisterSet> reaching_writes(const ir::Function& function, const Flow& flow) {
  const std::size_t registers = function.registers.size();
  std::vector<RegisterSet> in(function.blocks.size(), RegisterSet(registers));
  std::vector<RegisterSet> written(function.blocks.size(), RegisterSet(registers));
  for (std::size_t b = 0; b < function.blocks.size(); ++b)
    for (const ir::Operation& operation : function.blocks[b].operations)
      for_each_definition(operation, [&](const ir::Operand& d) { written[b].insert(d.index); });
  for (const ir::Operand& input : function.inputs)
    if (is_register(input) && !in.empty()) in[0].insert(input.index);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t block : flow.order) {
      RegisterSet out = in[block];
      out.merge(written[block]);
      for (std::uint32_t s : flow.successors[block]) changed = in[s].merge(out) || changed;
    }
  }
  return in;
}

}  // namespace

Liveness::Liveness(const ir::Function& analysed, const Flow& flow) : function(analysed) {
  solve(flow);
}

void Liveness::solve(const Flow& flow) {
  const std::size_t registers = function.registers.size();
  written_before = reaching_writes(function, flow);
  live_in.assign(function.blocks.size(), RegisterSet(registers));
  live_out = live_in;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto k = flow.order.size(); k-- > 0;) {
      const std::uint32_t block = flow.order[k];
      for (std::uint32_t s : flow.successors[block]) live_out[block].merge(live_in[s]);
      LiveWalker walker = walk(block);
      const auto& operations = function.blocks[block].operations;
      for (auto o = operations.size(); o-- > 0;) {
        walker.step_back(operations[o]);
      }
      walker.live().for_each([&](std::uint32_t r) {
        if (written_before[block].contains(r) && !live_in[block].contains(r)) {
          live_in[block].insert(r);
          changed = true;
        }
      });
    }
  }
}

}  // namespace lockstep::isa::lowering
