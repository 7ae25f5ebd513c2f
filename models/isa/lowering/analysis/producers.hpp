#pragma once

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

/// Finds the operation whose result an operand is, if computing it again at the place of use would
/// give the same.
class Producers {
 public:
  explicit Producers(const ir::Function& function) : function_(function), definitions_(function) {}

  const Definitions& definitions() const { return definitions_; }
  std::uint32_t uses(const ir::Operand& operand) const { return definitions_[operand.index].uses; }

  /// Null when the register may have been written elsewhere, when the operation has a guard or
  /// other results, or when one of its sources may have changed in between.
  const ir::Operation* find(const ir::Operand& operand, Place use) const;

 private:
  bool unchanged(std::uint32_t index, Place from, Place to) const;

  const ir::Function& function_;
  const Definitions definitions_;
};

}  // namespace lockstep::isa::lowering
