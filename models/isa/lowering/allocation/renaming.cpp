#include "models/isa/lowering/allocation/renaming.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

bool comes_before(Place a, Place b) {
  return a.block != b.block ? a.block < b.block : a.operation < b.operation;
}

/// Adds places. Both lists are ascending, and so is the result.
void add_all(std::vector<Place>& to, const std::vector<Place>& from) {
  const auto middle = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), from.begin(), from.end());
  std::inplace_merge(to.begin(), to.begin() + middle, to.end(), comes_before);
  to.erase(std::unique(to.begin(), to.end()), to.end());
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
      definitions_(function.registers.size()),
      walker_(function),
      in_stamp_(function.blocks.size()),
      out_stamp_(function.blocks.size()) {
  find_writers();
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

void Renaming::find_writers() {
  writers_.assign(function_.registers.size(), {});
  for (const std::uint32_t b : flow_.order)
    for (const ir::Operation& operation : function_.blocks[b].operations)
      for_each_definition(operation, [&](const ir::Operand& d) {
        auto& blocks = writers_[d.index];
        if (blocks.empty() || blocks.back() != b) blocks.push_back(b);
      });
}

Renaming::Places Renaming::deciding(std::uint32_t a, std::uint32_t b) const {
  Places result = mentions_[a];
  if (b != a) add_all(result, mentions_[b]);
  std::vector<std::uint32_t> guards;
  for (const Place place : result)
    if (is_register(at(place).guard)) guards.push_back(at(place).guard.index);
  std::sort(guards.begin(), guards.end());
  guards.erase(std::unique(guards.begin(), guards.end()), guards.end());
  Places of_guards;
  for (const std::uint32_t guard : guards)
    of_guards.insert(of_guards.end(), definitions_[guard].begin(), definitions_[guard].end());
  std::sort(of_guards.begin(), of_guards.end(), comes_before);
  add_all(result, of_guards);
  return result;
}

void Renaming::begin_walk(std::uint32_t block,
                          std::initializer_list<std::uint32_t> registers) const {
  walker_.begin();
  for (const std::uint32_t r : registers)
    if (is_live_below(r, block)) walker_.keep(r);
}

bool Renaming::interfere(std::uint32_t a, std::uint32_t b) const {
  if (liveness_.live_in[0].contains(a) && liveness_.live_in[0].contains(b)) return true;
  const Places places = deciding(a, b);
  for (std::size_t end = places.size(); end > 0;) {
    const std::uint32_t block = places[end - 1].block;
    begin_walk(block, {a, b});
    const bool reachable = flow_.reachable(block);
    for (; end > 0 && places[end - 1].block == block; --end) {
      const ir::Operation& operation = at(places[end - 1]);
      const bool writes_a = writes(operation, a), writes_b = writes(operation, b);
      if (reachable && writes_a && writes_b) return true;
      if (reachable && !copies(operation, a, b) &&
          ((writes_a && walker_.live().contains(b)) || (writes_b && walker_.live().contains(a))))
        return true;
      walker_.step_back(operation);
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
    (*lists)[from].clear();
  }
  if (is_predicate) {  // registers live only under this predicate may be live elsewhere now
    liveness_.solve(flow_);
    find_writers();
  } else {
    writers_[to].insert(writers_[to].end(), writers_[from].begin(), writers_[from].end());
    writers_[from].clear();
    spread_liveness(to);
  }
}

/// Extends the register's liveness to the least solution above the one before, which holds for its
/// own mentions.  The mentions that it took over only make it live in more places, as the two did
/// not interfere.
void Renaming::spread_liveness(std::uint32_t r) {
  const Places places = deciding(r, r);
  find_new(r, places, nullptr);
  if (in_stamp_[0] == stamp_) {  // a path reads the register before any write
    const std::vector<bool> written = reached_from(flow_, writers_[r]);
    find_new(r, places, &written);
  }
  for (const std::uint32_t b : new_in_) liveness_.live_in[b].insert(r);
  for (const std::uint32_t b : new_out_) liveness_.live_out[b].insert(r);
  ++stamp_;
}

void Renaming::find_new(std::uint32_t r, const Places& places, const std::vector<bool>* written) {
  ++stamp_;
  new_in_.clear();
  new_out_.clear();
  std::vector<std::uint32_t> work;
  for (const Place place : places)
    if (flow_.reachable(place.block) && (work.empty() || work.back() != place.block))
      work.push_back(place.block);
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    if (in_stamp_[block] == stamp_ || liveness_.live_in[block].contains(r) ||
        (written != nullptr && !(*written)[block]) || !is_live_above(r, block, places))
      continue;
    in_stamp_[block] = stamp_;
    new_in_.push_back(block);
    for (const std::uint32_t p : flow_.predecessors[block]) {
      if (!flow_.reachable(p)) continue;
      if (out_stamp_[p] != stamp_) new_out_.push_back(p);
      out_stamp_[p] = stamp_;
      work.push_back(p);
    }
  }
}

bool Renaming::is_live_below(std::uint32_t r, std::uint32_t block) const {
  return out_stamp_[block] == stamp_ || liveness_.live_out[block].contains(r);
}

bool Renaming::is_live_above(std::uint32_t r, std::uint32_t block, const Places& decided) const {
  const auto first =
      std::lower_bound(decided.begin(), decided.end(), Place{block, 0}, comes_before);
  auto last = std::lower_bound(first, decided.end(), Place{block + 1, 0}, comes_before);
  if (first == last) return is_live_below(r, block);
  begin_walk(block, {r});
  while (last != first) walker_.step_back(at(*--last));
  return walker_.live().contains(r);
}

}  // namespace lockstep::isa::lowering
