#pragma once

#include <optional>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

/// Finds the operation that produced an operand, if computing it again at the place of use would
/// give the same result.
class Producers {
 public:
  /// Makes the index.  `through_loops`: flow() is available, and alignment is also derived for loop
  /// counters.
  explicit Producers(const ir::Function& function, bool through_loops = false)
      : function_(function), definitions_(function) {
    if (through_loops) flow_.emplace(function);
    list_writes();
  }

  const ir::Function& function() const { return function_; }
  const std::optional<Flow>& flow() const { return flow_; }
  const Definitions& definitions() const { return definitions_; }
  std::uint32_t uses(const ir::Operand& operand) const { return definitions_[operand.index].uses; }

  /// Returns the operation that produced the operand's value at `use`; nullptr when the register
  /// may have been written elsewhere, when the operation has a guard or other results, or when one
  /// of its sources may have changed in between.
  const ir::Operation* find(const ir::Operand& operand, Place use) const;

  /// Returns the last write of the register within a block before an operation of it.
  std::optional<std::uint32_t> last_write(std::uint32_t index, Place before) const;
  /// Returns the first write of the register within a block behind an operation of it.
  std::optional<std::uint32_t> next_write(std::uint32_t index, Place behind) const;
  /// Notes that the destination of an operation now belongs to another operation of the same block.
  void move_write(std::uint32_t index, Place from, std::uint32_t to);

 private:
  void list_writes();
  bool unchanged(std::uint32_t index, Place from, Place to) const;

  const ir::Function& function_;
  std::optional<Flow> flow_;
  const Definitions definitions_;
  std::vector<Place> writes_;               ///< writes, sorted by register and then by place
  std::vector<std::uint32_t> first_write_;  ///< first write of each register, with an end entry
};

}  // namespace lockstep::isa::lowering
