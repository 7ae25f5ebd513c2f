#include "models/isa/interpreter/warpgroup_products.hpp"

#include <algorithm>
#include <bit>

#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/operand_lists.hpp"
#include "models/isa/text/warpgroup_mistakes.hpp"

namespace lockstep::isa {

WarpgroupProducts::OfWarp& WarpgroupProducts::of(const InterpretedWarp& warp) {
  warps_.resize(block_.warps_.size());
  return warps_[warp.identity.warp_in_block];
}

void WarpgroupProducts::require_right(const InterpretedWarp& warp,
                                      const Instruction& product) const {
  const auto mistake =
      product_mistake(product, list_of(block_.state_.program, product), warp.identity.warp_in_block,
                      block_.warps_.size(), block_.shared_.size(),
                      [&](Operand operand) { return block_.row(warp, operand); });
  if (mistake) block_.fail(warp, 0, mistake.what, mistake.advice);
}

void WarpgroupProducts::multiply(InterpretedWarp& warp, const Instruction& product,
                                 std::uint32_t active) {
  if (active == 0) return warp.paths.advance();
  const std::uint32_t together = warp.paths.arrive(whole_warp);
  if (together == 0) return;
  block_.require_whole_warp(warp, product, warp.guarded(product, together));
  require_right(warp, product);
  WarpgroupContext context{block_.context_};
  context.shared = block_.shared_.data();
  context.warp_of_group = warp.identity.warp_in_block % warps_of_group;
  product.execute(product, context);
  const OperandList& list = list_of(block_.state_.program, product);
  const WarpgroupForm form = unpack_warpgroup_form(product.target);
  OfWarp& products = of(warp);
  Group& open = products.open;
  open.last = ++products.issued;
  for (const Operand row : list.destinations)
    if (row.is_register()) open.written.push_back(row.row());
  if (form.a_in_registers)
    for (unsigned i = 0; i < registers_of_a; ++i)
      if (const Operand row = list.sources[registers_of_d(form) + i]; row.is_register())
        open.read.push_back(row.row());
  warp.multiplies = true;
  warp.paths.advance();
}

bool WarpgroupProducts::others_have_issued(const InterpretedWarp& warp,
                                           std::uint64_t products) const {
  const std::uint32_t first = warp.identity.warp_in_block / warps_of_group * warps_of_group;
  for (std::uint32_t w = first; w < first + warps_of_group && w < warps_.size(); ++w)
    if (warps_[w].issued < products && !block_.warps_[w].paths.finished()) return false;
  return true;
}

bool WarpgroupProducts::step(InterpretedWarp& warp, const Instruction& step) {
  if (warps_.empty()) return true;
  OfWarp& products = of(warp);
  switch (static_cast<ir::WarpgroupStep>(step.detail)) {
    case ir::WarpgroupStep::fence:
      return true;
    case ir::WarpgroupStep::commit:
      products.committed.push_back(std::move(products.open));
      products.open = {};
      return true;
    case ir::WarpgroupStep::wait:
      while (products.committed.size() > step.target) {
        if (!others_have_issued(warp, products.committed.front().last)) return false;
        products.committed.pop_front();
      }
      warp.multiplies = !products.committed.empty() || !products.open.written.empty();
  }
  return true;
}

namespace {

bool contains(const std::vector<std::uint16_t>& rows, std::uint16_t row) {
  return std::ranges::find(rows, row) != rows.end();
}

}  // namespace

bool WarpgroupProducts::has(const OfWarp& products, std::vector<std::uint16_t> Group::*rows,
                            Operand row) {
  if (!row.is_register()) return false;
  const auto names = [&](const Group& group) { return contains(group.*rows, row.row()); };
  return names(products.open) || std::ranges::any_of(products.committed, names);
}

void WarpgroupProducts::look_at(const InterpretedWarp& warp, const Instruction& instruction) {
  OfWarp& products = of(warp);
  const Program& program = block_.state_.program;
  const auto sources = sources_of(program, instruction);
  const auto destinations = destinations_of(program, instruction);
  if (instruction.opcode == Opcode::fill || instruction.opcode == Opcode::spill) {
    // The program knows nothing of these, nor of which rows they use, one or two.
    const auto forget = [&](Group& group) {
      for (const auto& operands : {destinations, sources})
        for (const Operand operand : operands) {
          if (!operand.is_register()) continue;
          const auto moved = [&](std::uint16_t row) {
            return row == operand.row() || row == operand.row() + 1;
          };
          std::erase_if(group.written, moved);
          std::erase_if(group.read, moved);
        }
    };
    std::ranges::for_each(products.committed, forget);
    forget(products.open);
    return;
  }
  if (instruction.opcode == Opcode::mov) {
    // A copy of a result counts as a result from now on; other copies do not.
    if (!instruction.destination[0].is_register()) return;
    const std::uint16_t to = instruction.destination[0].row();
    const bool of_result = has(products, &Group::written, instruction.source[0]);
    const auto change = [&](Group& group) { std::erase(group.written, to); };
    std::ranges::for_each(products.committed, change);
    change(products.open);
    if (!of_result) return;
    if (!products.open.written.empty() || products.committed.empty())
      products.open.written.push_back(to);
    else
      products.committed.back().written.push_back(to);
    return;
  }
  std::span<const Operand> read = sources;
  // The product accumulates the result of the last one.
  if (instruction.category == Category::warpgroup_product)
    read = read.subspan(registers_of_d(unpack_warpgroup_form(instruction.target)));
  const bool reads =
      std::ranges::any_of(read, [&](Operand row) { return has(products, &Group::written, row); });
  const bool writes =
      instruction.category != Category::warpgroup_product &&
      std::ranges::any_of(destinations, [&](Operand row) {
        return has(products, &Group::written, row) || has(products, &Group::read, row);
      });
  if (!reads && !writes) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(warp.paths.mask()));
  block_.fail(warp, lane,
              std::string(reads ? "reads" : "writes") + " a register of a wgmma that is under way",
              "wait with wgmma.wait_group before");
}

}  // namespace lockstep::isa
