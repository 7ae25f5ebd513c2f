#include "models/isa/lowering/schedule/memory_order.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

MemoryOrder::Access MemoryOrder::access_of(const ir::Operation& operation, std::uint32_t number,
                                           std::uint32_t base_version) {
  Access access;
  access.operation = number;
  access.space = has_trait(operation.opcode, on_own_stack) ? Space::local : operation.space;
  // Shared memory of the cluster is, in part, that of the block.
  if (access.space == Space::shared_cluster) access.space = Space::generic;
  access.begin = operation.offset;
  access.end = operation.offset + std::int64_t{bytes_of(operation.type)} * operation.elements;
  access.read_only = operation.cache == CacheOperator::non_coherent ||
                     operation.cache == CacheOperator::texel || access.space == Space::constant ||
                     access.space == Space::parameter;
  // Rows of matrices are at the addresses of other lanes, so they may be anywhere.
  const bool anywhere =
      operation.opcode == Opcode::ldmatrix || operation.opcode == Opcode::stmatrix;
  if (operation.sources.empty() || anywhere) return access;
  const ir::Operand& base = operation.sources[0];
  access.base.emplace(static_cast<int>(base.kind), base.negated, base.index, base.value,
                      base_version);
  return access;
}

std::vector<std::uint32_t>& MemoryOrder::Group::at(const Access& access) {
  longest = std::max(longest, access.end - access.begin);
  return operations[{access.begin, access.end}];
}

template <class Visit>
void MemoryOrder::Group::for_each_overlapping(const Access& access, Visit&& visit) {
  auto place = operations.lower_bound({access.begin - longest, access.begin - longest});
  while (place != operations.end() && place->first.first < access.end) {
    const auto here = place++;
    if (access.begin < here->first.second) visit(here);
  }
}

std::optional<std::uint32_t> MemoryOrder::last_before(State& state, const Access& load) {
  if (!state.last) return {};
  if (!load.base || state.last->base != load.base) return state.last->operation;
  std::optional<std::uint32_t> found;
  if (state.last_of_another) found = state.last_of_another->operation;
  if (const auto group = state.stores.find(*load.base); group != state.stores.end())
    group->second.for_each_overlapping(
        load, [&](auto place) { found = std::max(found, std::optional(place->second.back())); });
  return found;
}

std::optional<std::uint32_t> MemoryOrder::add_load(const Access& load) {
  if (load.read_only) return {};
  std::optional<std::uint32_t> found;
  for (auto& [space, state] : spaces_) {
    if (space == load.space) {
      found = std::max(found, last_before(state, load));
    } else if ((space == Space::generic || load.space == Space::generic) && state.last) {
      found = std::max(found, std::optional(state.last->operation));
    }
  }
  State& own = spaces_[load.space];
  (load.base ? own.loads[*load.base].at(load) : own.loads_anywhere).push_back(load.operation);
  return found;
}

void MemoryOrder::take_all(State& state, std::vector<std::uint32_t>& into) {
  const auto take = [&](const std::vector<std::uint32_t>& loads) {
    into.insert(into.end(), loads.begin(), loads.end());
  };
  for (const auto& [base, group] : state.loads)
    for (const auto& [bytes, loads] : group.operations) take(loads);
  take(state.loads_anywhere);
  state.loads.clear();
  state.loads_anywhere.clear();
}

void MemoryOrder::take_aliases(State& state, const Access& store,
                               std::vector<std::uint32_t>& into) {
  decltype(state.loads)::node_type kept;
  if (store.base) kept = state.loads.extract(*store.base);
  take_all(state, into);
  if (kept.empty()) return;
  Group& group = kept.mapped();
  group.for_each_overlapping(store, [&](auto place) {
    into.insert(into.end(), place->second.begin(), place->second.end());
    group.operations.erase(place);
  });
  state.loads.insert(std::move(kept));
}

void MemoryOrder::note(State& state, const Access& store) {
  if (state.last && (!store.base || state.last->base != store.base))
    state.last_of_another = state.last;
  state.last = store;
  if (store.base) state.stores[*store.base].at(store) = {store.operation};
}

std::vector<std::uint32_t> MemoryOrder::add_store(const Access& store) {
  std::vector<std::uint32_t> found;
  for (auto& [space, state] : spaces_) {
    if (space == store.space) {
      take_aliases(state, store, found);
    } else if (space == Space::generic || store.space == Space::generic) {
      take_all(state, found);
    }
  }
  if (last_store_) found.push_back(*last_store_);
  last_store_ = store.operation;
  note(spaces_[store.space], store);
  return found;
}

}  // namespace lockstep::isa::lowering
