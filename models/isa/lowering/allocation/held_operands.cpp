#include "models/isa/lowering/allocation/held_operands.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/matrix/warpgroup_form.hpp"

namespace lockstep::isa::lowering {

namespace {

/// Registers that products under way may read, with the least number of groups that were committed
/// since the product: 0 while its own is open.
using UnderWay = std::map<std::uint32_t, std::uint32_t>;

constexpr std::uint32_t most_groups = 8;  // a wait leaves at most 7

bool is_step(const ir::Operation& operation, ir::WarpgroupStep step) {
  return operation.opcode == Opcode::wgmma_step &&
         static_cast<ir::WarpgroupStep>(operation.mode) == step;
}

bool reads_registers(const ir::Operation& operation) {
  return operation.opcode == Opcode::wgmma &&
         unpack_warpgroup_form(operation.immediate).a_in_registers;
}

/// Visits the registers of A that a product reads.
template <class Visit>
void for_each_of_a(const ir::Operation& product, Visit&& visit) {
  if (!reads_registers(product)) return;
  const unsigned first = registers_of_d(unpack_warpgroup_form(product.immediate));
  for (unsigned i = first; i < first + registers_of_a; ++i)
    if (is_register(product.sources[i])) visit(product.sources[i].index);
}

/// Goes through an operation; `done(register)` for those that a wait is over for.
template <class Done>
void step(UnderWay& registers, const ir::Operation& operation, Done&& done) {
  for_each_of_a(operation, [&](std::uint32_t index) { registers[index] = 0; });
  if (is_step(operation, ir::WarpgroupStep::commit)) {
    for (auto& [index, groups] : registers) groups = std::min(groups + 1, most_groups);
  } else if (is_step(operation, ir::WarpgroupStep::wait)) {
    std::erase_if(registers, [&](const auto& one) {
      if (one.second <= operation.immediate) return false;
      done(one.first);
      return true;
    });
  }
}

/// Adds what may be under way on another path.  Returns whether that changes anything.
bool merge(UnderWay& into, const UnderWay& from) {
  bool changes = false;
  for (const auto& [index, groups] : from) {
    const auto [place, is_new] = into.emplace(index, groups);
    changes |= is_new || groups < place->second;
    place->second = std::min(place->second, groups);
  }
  return changes;
}

}  // namespace

bool holds_operands(const ir::Operation& operation) {
  return is_step(operation, ir::WarpgroupStep::wait);
}

void hold_operands(ir::Function& function, const Flow& flow) {
  const auto any = [](const ir::Block& block) {
    return std::ranges::any_of(block.operations, reads_registers);
  };
  if (std::ranges::none_of(function.blocks, any)) return;
  std::vector<UnderWay> at_begin(function.blocks.size());
  std::vector<bool> is_due(function.blocks.size(), true);
  for (bool again = true; again;) {
    again = false;
    for (const std::uint32_t b : flow.order) {
      if (!is_due[b]) continue;
      is_due[b] = false;
      UnderWay registers = at_begin[b];
      for (const ir::Operation& operation : function.blocks[b].operations)
        step(registers, operation, [](std::uint32_t) {});
      for (const std::uint32_t next : flow.successors[b])
        if (merge(at_begin[next], registers)) is_due[next] = again = true;
    }
  }
  for (const std::uint32_t b : flow.order) {
    UnderWay registers = at_begin[b];
    for (ir::Operation& operation : function.blocks[b].operations) {
      std::vector<std::uint32_t> over;
      step(registers, operation, [&](std::uint32_t index) { over.push_back(index); });
      for (const std::uint32_t index : over)
        operation.sources.push_back(ir::register_operand(index));
    }
  }
}

std::vector<bool> operands_a(const ir::Function& function) {
  std::vector<bool> operands(function.registers.size());
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      for_each_of_a(operation, [&](std::uint32_t index) { operands[index] = true; });
  return operands;
}

}  // namespace lockstep::isa::lowering
