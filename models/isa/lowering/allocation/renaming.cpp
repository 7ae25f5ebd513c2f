#include "models/isa/lowering/allocation/renaming.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

bool comes_before(Place a, Place b) {
  return a.block != b.block ? a.block < b.block : a.operation < b.operation;
}

void add_all(std::vector<Place>& to, const std::vector<Place>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void order(std::vector<Place>& places) {
  std::sort(places.begin(), places.end(), comes_before);
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

bool copies(const ir::Operation& operation, std::uint32_t a, std::uint32_t b) {
  return operation.opcode == Opcode::mov && operation.sources.size() == 1 &&
         is_register(operation.sources[0]) && operation.destinations.size() == 1 &&
         ((operation.destinations[0].index == a && operation.sources[0].index == b) ||
          (operation.destinations[0].index == b && operation.sources[0].index == a));
}

bool writes(const ir::Operation& operation, std::uint32_t index) {
  bool found = false;
  for_each_definition(operation, [&](const ir::Operand& d) { found = found || d.index == index; });
  return found;
}

}  // namespace

Renaming::Renaming(ir::Function& function, const Flow& flow)
    : function_(function),
      flow_(flow),
      liveness_(function, flow),
      mentions_(function.registers.size()),
      definitions_(function.registers.size()) {
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const auto& operations = function.blocks[b].operations;
    for (std::uint32_t o = 0; o < operations.size(); ++o) {
      const auto note = [&](const ir::Operand& operand) {
        Places& places = mentions_[operand.index];
        if (places.empty() || places.back() != Place{b, o}) places.push_back({b, o});
      };
      for_each_use(operations[o], note);
      for_each_definition(operations[o], note);
      for_each_definition(operations[o], [&](const ir::Operand& d) {
        if (d.kind == Kind::predicate) definitions_[d.index].push_back({b, o});
      });
    }
  }
}

Renaming::Places Renaming::deciding(std::uint32_t a, std::uint32_t b) const {
  Places result = mentions_[a];
  if (b != a) add_all(result, mentions_[b]);
  std::vector<std::uint32_t> guards;
  for (const Place place : result)
    if (is_register(at(place).guard)) guards.push_back(at(place).guard.index);
  std::sort(guards.begin(), guards.end());
  guards.erase(std::unique(guards.begin(), guards.end()), guards.end());
  for (const std::uint32_t guard : guards) add_all(result, definitions_[guard]);
  order(result);
  return result;
}

bool Renaming::interfere(std::uint32_t a, std::uint32_t b) const {
  if (liveness_.live_in[0].contains(a) && liveness_.live_in[0].contains(b)) return true;
  const Places places = deciding(a, b);
  for (std::size_t end = places.size(); end > 0;) {
    const std::uint32_t block = places[end - 1].block;
    LiveWalker walker = liveness_.walk(block);
    const bool reachable = flow_.reachable(block);
    for (; end > 0 && places[end - 1].block == block; --end) {
      const ir::Operation& operation = at(places[end - 1]);
      const bool writes_a = writes(operation, a), writes_b = writes(operation, b);
      if (reachable && writes_a && writes_b) return true;
      if (reachable && !copies(operation, a, b) &&
          ((writes_a && walker.live().contains(b)) || (writes_b && walker.live().contains(a))))
        return true;
      walker.step_back(operation);
    }
  }
  return false;
}

void Renaming::rename(std::uint32_t from, std::uint32_t to) {
  const bool is_predicate = function_.registers[from].type == Type::pred;
  const auto change = [&](ir::Operand& operand) {
    if (operand.index == from) operand.index = to;
  };
  for (const Place place : mentions_[from]) {
    ir::Operation& operation = at(place);
    for_each_use(operation, change);
    for_each_definition(operation, change);
    if (operation.opcode == Opcode::mov && !is_guarded(operation) &&
        operation.sources.size() == 1 && is_register(operation.sources[0]) &&
        !operation.sources[0].negated &&
        operation.sources[0].index == operation.destinations[0].index)
      operation = ir::Operation{};
  }
  for (auto* lists : {&mentions_, &definitions_}) {
    add_all((*lists)[to], (*lists)[from]);
    order((*lists)[to]);
    (*lists)[from].clear();
  }
  if (is_predicate) {  // others that are live only under it may be live elsewhere now
    liveness_.solve(flow_);
  } else {
    spread_writes(from, to);
    spread_liveness(to);
  }
}

/// What a write of the one reached, one of the other reaches too.
void Renaming::spread_writes(std::uint32_t from, std::uint32_t to) {
  for (auto& written : liveness_.written_before)
    if (written.contains(from)) written.insert(to);
}

/// The least solution above the one before, which holds for the register's own mentions: those that
/// it took over only make it live in more places, as the two did not interfere.
void Renaming::spread_liveness(std::uint32_t r) {
  const Places places = deciding(r, r);
  std::vector<std::uint32_t> work;
  for (const Place place : places)
    if (flow_.reachable(place.block) && (work.empty() || work.back() != place.block))
      work.push_back(place.block);
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    if (liveness_.live_in[block].contains(r) || !liveness_.written_before[block].contains(r) ||
        !is_live_above(r, block, places))
      continue;
    liveness_.live_in[block].insert(r);
    for (const std::uint32_t p : flow_.predecessors[block]) {
      if (!flow_.reachable(p)) continue;
      liveness_.live_out[p].insert(r);
      work.push_back(p);
    }
  }
}

bool Renaming::is_live_above(std::uint32_t r, std::uint32_t block, const Places& decided) const {
  const auto first =
      std::lower_bound(decided.begin(), decided.end(), Place{block, 0}, comes_before);
  auto last = std::lower_bound(first, decided.end(), Place{block + 1, 0}, comes_before);
  if (first == last) return liveness_.live_out[block].contains(r);
  LiveWalker walker = liveness_.walk(block);
  while (last != first) walker.step_back(at(*--last));
  return walker.live().contains(r);
}

}  // namespace lockstep::isa::lowering
