/// Neighbouring loads of shared or local memory become one vector load where the address is known
/// to be aligned (ptxas: four LDS become one LDS.128).
///
/// The vector load stands where the first of them stood; the others move up to it, past no barrier
/// and no store that may alias.
#include <array>
#include <optional>

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

bool touches(const ir::Operation& operation, std::uint32_t index) {
  bool found = false;
  const auto look = [&](const ir::Operand& operand) { found = found || operand.index == index; };
  for_each_use(operation, look);
  for_each_definition(operation, look);
  return found;
}

bool writes(const ir::Operation& operation, std::uint32_t index) {
  bool found = false;
  for_each_definition(operation, [&](const ir::Operand& d) { found = found || d.index == index; });
  return found;
}

class Merging {
 public:
  Merging(ir::Function& function, bool through_loops)
      : function_(function), producers_(function, through_loops) {}

  bool run() {
    bool changed = false;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b)
      for (std::uint32_t o = 0; o < function_.blocks[b].operations.size(); ++o)
        for (unsigned elements : {4U, 2U})
          if (merge({b, o}, elements)) {
            changed = true;
            break;
          }
    return changed;
  }

 private:
  // The load at `first` and others behind it that make an aligned vector.
  bool merge(Place first, unsigned elements) {
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
    for (std::uint32_t o = first.operation + 1; o < operations.size() && missing > 0; ++o) {
      const ir::Operation& other = operations[o];
      if (blocks_loads(other, load)) break;
      if (is_candidate(other) && same_vector(load, other, start, bytes)) {
        auto& place = found[static_cast<std::size_t>((other.offset - start) / size)];
        if (!place && may_move_up(operations, first.operation, o)) {
          place = o;
          --missing;
        }
      }
      if (load.sources[0].kind == Kind::reg && writes(other, load.sources[0].index)) break;
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

  static bool blocks_loads(const ir::Operation& other, const ir::Operation& load) {
    if (is_scheduling_barrier(other)) return true;
    if (!writes_memory(other)) return false;
    return other.space == load.space || other.space == Space::generic ||
           other.opcode == Opcode::spill;
  }

  static bool may_move_up(const std::vector<ir::Operation>& operations, std::uint32_t to,
                          std::uint32_t from) {
    const ir::Operation& load = operations[from];
    for (std::uint32_t o = to; o < from; ++o) {
      if (touches(operations[o], load.destinations[0].index)) return false;
      if (is_register(load.guard) && writes(operations[o], load.guard.index)) return false;
    }
    return true;
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
