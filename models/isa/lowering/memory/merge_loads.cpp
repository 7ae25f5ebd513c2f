/// Neighbouring loads of shared or local memory become one vector load where the address is known
/// to be aligned (ptxas: four LDS become one LDS.128).
///
/// The vector load takes the place of the first load; the others move up to it, past no barrier and
/// no store that may alias.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "models/isa/lowering/analysis/alignment.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/producers.hpp"
#include "models/isa/lowering/memory/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

bool is_candidate(const ir::Operation& operation) {
  return operation.opcode == Opcode::ld && is_weak_load(operation) &&
         (operation.space == Space::shared || operation.space == Space::local) &&
         operation.elements == 1 && bytes_of(operation.type) >= 4 &&
         operation.destinations.size() == 1 && operation.destinations[0].kind == Kind::reg &&
         operation.cache == CacheOperator::none;
}

bool reads(const ir::Operation& operation, std::uint32_t index) {
  bool found = false;
  for_each_use(operation, [&](const ir::Operand& use) { found = found || use.index == index; });
  return found;
}

bool blocks_loads(const ir::Operation& other, Space space) {
  if (is_scheduling_barrier(other)) return true;
  if (!writes_memory(other)) return false;
  return other.space == space || other.space == Space::generic ||
         other.space == Space::shared_cluster || other.opcode == Opcode::spill;
}

/// Index of a block for merging, so that the block is not walked for each load.
class BlockIndex {
 public:
  explicit BlockIndex(const std::vector<ir::Operation>& operations) : operations_(operations) {
    const auto count = static_cast<std::uint32_t>(operations.size());
    for (auto* list : {&shared_end_, &local_end_}) list->assign(count + 1, count);
    for (std::uint32_t o = count; o-- > 0;) {
      shared_end_[o] = blocks_loads(operations[o], Space::shared) ? o : shared_end_[o + 1];
      local_end_[o] = blocks_loads(operations[o], Space::local) ? o : local_end_[o + 1];
    }
    for (std::uint32_t o = 0; o < count; ++o) {
      if (is_candidate(operations[o])) neighbours_[key_of(operations[o])].push_back(o);
      for_each_use(operations[o], [&](const ir::Operand& use) {
        auto& places = reads_[use.index];
        if (places.empty() || places.back() != o) places.push_back(o);
      });
    }
  }

  /// Returns, in ascending order, the loads behind this one within the same 16 bytes of the same
  /// base.
  std::span<const std::uint32_t> neighbours_behind(std::uint32_t first) const {
    const std::vector<std::uint32_t>& all = neighbours_.at(key_of(operations_[first]));
    const auto next = std::upper_bound(all.begin(), all.end(), first);
    return {next, all.end()};
  }
  /// Returns the first operation behind this load that loads of its space cannot pass.
  std::uint32_t end_for(std::uint32_t load) const {
    return (operations_[load].space == Space::shared ? shared_end_ : local_end_)[load + 1];
  }
  /// Returns whether one of the operations [from, to) reads the register.
  bool is_read_within(std::uint32_t index, std::uint32_t from, std::uint32_t to) const {
    const auto found = reads_.find(index);
    if (found == reads_.end()) return false;
    const auto& places = found->second;
    for (auto p = std::lower_bound(places.begin(), places.end(), from);
         p != places.end() && *p < to; ++p)
      if (reads(operations_[*p], index)) return true;  // the operation may have been merged since
    return false;
  }

 private:
  using Key = std::tuple<Space, unsigned, int, std::uint32_t, std::int64_t, std::int64_t>;
  static Key key_of(const ir::Operation& load) {
    const ir::Operand& base = load.sources[0];
    return {load.space, bytes_of(load.type), static_cast<int>(base.kind),
            base.index, base.value,          load.offset >> 4};
  }

  const std::vector<ir::Operation>& operations_;
  std::vector<std::uint32_t> shared_end_, local_end_;
  std::map<Key, std::vector<std::uint32_t>> neighbours_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> reads_;
};

class Merging {
 public:
  Merging(ir::Function& function, bool through_loops)
      : function_(function), producers_(function, through_loops) {}

  bool run() {
    bool changed = false;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const auto& operations = function_.blocks[b].operations;
      if (std::count_if(operations.begin(), operations.end(), is_candidate) < 2) continue;
      const BlockIndex index(operations);
      for (std::uint32_t o = 0; o < operations.size(); ++o)
        for (unsigned elements : {4U, 2U})
          if (merge(index, {b, o}, elements)) {
            changed = true;
            break;
          }
    }
    return changed;
  }

 private:
  // Merges the load at `first` and later loads that together make an aligned vector.
  bool merge(const BlockIndex& index, Place first, unsigned elements) {
    auto& operations = function_.blocks[first.block].operations;
    const ir::Operation& load = operations[first.operation];
    if (!is_candidate(load)) return false;
    const std::int64_t size = bytes_of(load.type), bytes = size * elements;
    if (bytes > 16) return false;
    const unsigned base_bits = zero_bits(producers_, load.sources[0], first);
    if (base_bits < 32 && (std::int64_t{1} << base_bits) < bytes) return false;
    const std::int64_t start = load.offset & -bytes;
    std::array<std::optional<std::uint32_t>, 4> found;
    found[static_cast<std::size_t>((load.offset - start) / size)] = first.operation;
    unsigned missing = elements - 1;
    const std::uint32_t end = end_of_search(index, first);
    for (const std::uint32_t o : index.neighbours_behind(first.operation)) {
      if (o >= end || missing == 0) break;
      const ir::Operation& other = operations[o];
      if (!is_candidate(other) || !same_vector(load, other, start, bytes)) continue;
      auto& place = found[static_cast<std::size_t>((other.offset - start) / size)];
      if (place || !may_move_up(index, first, o)) continue;
      place = o;
      --missing;
    }
    if (missing > 0) return false;
    for (unsigned e = 0; e < elements; ++e)
      if (*found[e] != first.operation)
        producers_.move_write(operations[*found[e]].destinations[0].index, {first.block, *found[e]},
                              first.operation);
    replace(operations, first.operation, found, elements, start);
    return true;
  }

  static bool same_vector(const ir::Operation& load, const ir::Operation& other, std::int64_t start,
                          std::int64_t bytes) {
    return other.space == load.space && bytes_of(other.type) == bytes_of(load.type) &&
           same_value(other.sources[0], load.sources[0]) && same_value(other.guard, load.guard) &&
           other.offset >= start && other.offset < start + bytes &&
           (other.offset - start) % bytes_of(load.type) == 0;
  }

  /// Returns the end of the search: behind an operation that loads cannot pass, or behind the first
  /// write of the base.
  std::uint32_t end_of_search(const BlockIndex& index, Place first) const {
    const ir::Operand& base = function_.blocks[first.block].operations[first.operation].sources[0];
    const std::uint32_t end = index.end_for(first.operation);
    if (base.kind != Kind::reg) return end;
    const auto write = producers_.next_write(base.index, first);
    return write ? std::min(end, *write + 1) : end;
  }

  bool may_move_up(const BlockIndex& index, Place first, std::uint32_t from) const {
    const Place place{first.block, from};
    const ir::Operation& load = function_.blocks[first.block].operations[from];
    const auto written = [&](std::uint32_t r) {
      const auto last = producers_.last_write(r, place);
      return last && *last >= first.operation;
    };
    const std::uint32_t result = load.destinations[0].index;
    return !written(result) && !index.is_read_within(result, first.operation, from) &&
           !(is_register(load.guard) && written(load.guard.index));
  }

  static void replace(std::vector<ir::Operation>& operations, std::uint32_t first,
                      const std::array<std::optional<std::uint32_t>, 4>& found, unsigned elements,
                      std::int64_t start) {
    ir::Operation vector = operations[first];
    vector.elements = static_cast<std::uint8_t>(elements);
    vector.offset = start;
    vector.destinations.clear();
    for (unsigned e = 0; e < elements; ++e)
      vector.destinations.push_back(operations[*found[e]].destinations[0]);
    for (unsigned e = 0; e < elements; ++e) operations[*found[e]] = ir::Operation{};
    operations[first] = std::move(vector);
  }

  ir::Function& function_;
  Producers producers_;
};

}  // namespace

bool merge_loads(ir::Function& function, bool through_loops) {
  return Merging(function, through_loops).run();
}

}  // namespace lockstep::isa::lowering
