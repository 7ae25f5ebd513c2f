/// Contraction of floating-point products and sums, as ptxas does.
///
/// Source: PTX ISA 8.x, "Floating Point Instructions": mul, add and sub without a rounding modifier
/// may be contracted to fma.  Which of them are was read from the code that ptxas 13.0 makes of
/// small kernels for sm_75 and sm_90 (docs/validation/lowering.md):
/// - The product has no guard, no saturation, and the type and .ftz of the sum.
/// - Every use of the product is such a sum in the product's block; copies and negations in between
///   are looked through.  A product that is read by anything else is computed once, and added.
/// - Sums take in products without another use first; of two such products, or of two with more
///   uses, a sum takes in the first.  The other one is the addend, which counts as read.  t + t
///   stays.
#include "models/isa/lowering/contraction.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/producers.hpp"

namespace lockstep::isa {

namespace {

using lowering::Kind;
using lowering::Place;

constexpr std::uint16_t negate_product = 1, negate_addend = 2;

bool is_unrounded(const ir::Operation& operation) {
  return is_float(operation.type) && operation.rounding == Rounding::none &&
         operation.sources.size() == 2 && operation.destinations.size() == 1 &&
         operation.destinations[0].kind == Kind::reg;
}
bool is_sum(const ir::Operation& operation) {
  return (operation.opcode == Opcode::add || operation.opcode == Opcode::sub) &&
         is_unrounded(operation);
}
bool is_product(const ir::Operation& operation) {
  return operation.opcode == Opcode::mul && is_unrounded(operation) && !operation.saturate &&
         !lowering::is_guarded(operation);
}

class Contraction {
 public:
  explicit Contraction(ir::Function& function)
      : function_(function), producers_(function), products_(function.registers.size()) {
    for (std::uint32_t r = 0; r < products_.size(); ++r) products_[r].origin = r;
  }

  void run() {
    find_origins();
    count_uses();
    contract(true);
    contract(false);
    erase_products();
  }

 private:
  struct Product {
    std::uint32_t origin;    ///< register whose value a copy or negation has
    std::uint32_t sums = 0;  ///< sums that may take the product in
    std::uint32_t contracted = 0;
    bool is_read = false;  ///< anything else reads it
    bool is_copied = false;
  };
  /// A product, as a sum reads it.
  struct Factor {
    std::uint32_t product;  ///< register of the product
    const ir::Operation* operation;
    bool negated;
  };

  /// Returns whether the operation gives a value of its own block another name or sign.
  bool passes_on(const ir::Operation& operation, Place place) const {
    if (lowering::is_guarded(operation) || operation.sources.size() != 1 ||
        operation.destinations.size() != 1 || operation.sources[0].kind != Kind::reg ||
        operation.destinations[0].kind != Kind::reg ||
        !producers_.definitions().is_single(operation.destinations[0].index) ||
        !is_of_block(operation.sources[0], place))
      return false;
    const auto width = [&](const ir::Operand& operand) {
      return bytes_of(function_.registers[operand.index].type);
    };
    if (width(operation.sources[0]) != width(operation.destinations[0])) return false;
    return operation.opcode == Opcode::mov ||
           (operation.opcode == Opcode::neg && is_float(operation.type));
  }

  bool is_of_block(const ir::Operand& operand, Place place) const {
    return producers_.definitions().is_single(operand.index) &&
           producers_.definitions()[operand.index].definition.block == place.block;
  }

  template <class Visit>
  void for_each_operation(Visit&& visit) {
    Place place;
    for (place.block = 0; place.block < function_.blocks.size(); ++place.block) {
      auto& operations = function_.blocks[place.block].operations;
      for (place.operation = 0; place.operation < operations.size(); ++place.operation)
        visit(operations[place.operation], place);
    }
  }

  void find_origins() {
    for_each_operation([&](const ir::Operation& operation, Place place) {
      if (!passes_on(operation, place)) return;
      const std::uint32_t origin = products_[operation.sources[0].index].origin;
      products_[operation.destinations[0].index].origin = origin;
      products_[origin].is_copied = true;
    });
  }
  Product& origin_of(const ir::Operand& operand) {
    return products_[products_[operand.index].origin];
  }

  /// Returns the product that the sum has as source `s` and may take in.
  std::optional<Factor> factor(const ir::Operation& sum, std::size_t s, Place place) const {
    bool negated = false;
    ir::Operand operand = sum.sources[s];
    for (;;) {
      if (operand.kind != Kind::reg || !is_of_block(operand, place)) return {};
      const ir::Operation* inner = producers_.find(operand, place);
      if (inner == nullptr) return {};
      if (is_product(*inner)) {
        if (inner->type != sum.type || inner->flush != sum.flush) return {};
        return Factor{operand.index, inner, negated};
      }
      if (!passes_on(*inner, place) || (inner->opcode == Opcode::neg &&
                                        (inner->type != sum.type || (inner->flush && !sum.flush))))
        return {};
      negated ^= inner->opcode == Opcode::neg;
      operand = inner->sources[0];
    }
  }

  bool adds_to_itself(const ir::Operation& sum) const {
    return sum.sources[0].kind == Kind::reg && sum.sources[1].kind == Kind::reg &&
           products_[sum.sources[0].index].origin == products_[sum.sources[1].index].origin;
  }

  void count_uses() {
    for_each_operation([&](const ir::Operation& operation, Place place) {
      if (passes_on(operation, place)) return;
      const bool may_contract = is_sum(operation) && !adds_to_itself(operation);
      for (std::size_t s = 0; s < operation.sources.size(); ++s) {
        if (operation.sources[s].kind != Kind::reg) continue;
        if (may_contract && factor(operation, s, place))
          ++origin_of(operation.sources[s]).sums;
        else
          origin_of(operation.sources[s]).is_read = true;
      }
    });
    for (const ir::Operand& result : function_.results)
      if (result.kind == Kind::reg) origin_of(result).is_read = true;
  }

  /// Contracts sums in their order: first those of products with one use, then the others.
  void contract(bool single) {
    for_each_operation([&](ir::Operation& operation, Place place) {
      if (!is_sum(operation) || adds_to_itself(operation)) return;
      for (const std::size_t s : {0, 1}) {
        const auto found = factor(operation, s, place);
        if (!found) continue;
        Product& product = products_[found->product];
        if (product.is_read || (single && product.sums != 1)) continue;
        ++product.contracted;
        const ir::Operand addend = operation.sources[1 - s];
        if (addend.kind == Kind::reg) origin_of(addend).is_read = true;
        std::uint16_t signs = found->negated ? negate_product : 0;
        if (operation.opcode == Opcode::sub) signs ^= s == 0 ? negate_addend : negate_product;
        operation.opcode = Opcode::fma;
        operation.rounding = Rounding::rn;
        operation.mode = signs;
        operation.sources = {found->operation->sources[0], found->operation->sources[1], addend};
        return;
      }
    });
  }

  void erase_products() {
    for (ir::Block& block : function_.blocks)
      std::erase_if(block.operations, [&](const ir::Operation& operation) {
        if (!is_product(operation)) return false;
        const Product& product = products_[operation.destinations[0].index];
        return product.contracted != 0 && product.contracted == product.sums && !product.is_read &&
               !product.is_copied;
      });
  }

  ir::Function& function_;
  const lowering::Producers producers_;
  std::vector<Product> products_;  ///< products, by register
};

}  // namespace

void contract_products(ir::Function& function) {
  bool has_product = false, has_sum = false;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations) {
      has_product = has_product || is_product(operation);
      has_sum = has_sum || is_sum(operation);
    }
  if (has_product && has_sum) Contraction(function).run();
}

}  // namespace lockstep::isa
