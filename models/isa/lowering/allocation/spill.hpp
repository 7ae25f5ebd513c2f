/// Spilling of one register: a value goes to the thread's local memory, is fetched before each
/// operation that mentions it, and is saved behind it.  A predicate is kept in a register as 0 or 1
/// and compared again before each use.  A constant has no place: it is made again.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/analysis/flow.hpp"

namespace lockstep::isa::lowering {

/// Registers that hold a constant wherever they are read, and the operations that make them.
class Constants {
 public:
  Constants() = default;
  explicit Constants(const ir::Function& function);
  /// Returns the operation that makes the register's value, or nullptr.
  const ir::Operation* find(std::uint32_t index) const {
    return index < made_by_.size() && made_by_[index].opcode != Opcode::nop ? &made_by_[index]
                                                                            : nullptr;
  }
  bool is_empty() const { return made_by_.empty(); }

 private:
  std::vector<ir::Operation> made_by_;  ///< operations by register; nop: none
};

/// Spills the victim.  `flow`, `constants` and `ranges` belong to the function; the ranges are
/// updated.  The registers that replace the victim, each around one operation, are added to
/// `temporaries`.
void spill(ir::Function& function, const Flow& flow, std::uint32_t victim,
           const Constants& constants, std::vector<LiveRange>& ranges,
           std::vector<std::uint32_t>& temporaries);

}  // namespace lockstep::isa::lowering
