/// Definitions and uses of each virtual register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/flow.hpp"

namespace lockstep::isa::lowering {

/// A place in the function.
struct Place {
  std::uint32_t block = 0, operation = 0;
  bool operator==(const Place&) const = default;
};

/// Definitions and uses, by register.  Invalid once operations were inserted or removed.
struct Definitions {
  struct Entry {
    std::uint32_t definitions = 0;  ///< number of definitions; a function input counts as one
    std::uint32_t uses = 0;
    bool guarded = false;   ///< at least one definition keeps lanes
    bool dominates = true;  ///< the only definition comes before every use
    bool is_input = false;
    Place definition;  ///< last definition found
  };
  std::vector<Entry> entries;

  explicit Definitions(const ir::Function& function);
  const Entry& operator[](std::uint32_t index) const { return entries[index]; }
  /// Returns whether the register is written once, in all lanes, before every use: wherever it is
  /// read, its sources (if they are single, too) still hold the values from which it was computed.
  /// One definition alone is not enough: a register that a loop reads before writing it holds the
  /// value of the last iteration.
  bool is_single(std::uint32_t index) const {
    return entries[index].definitions == 1 && !entries[index].guarded && entries[index].dominates;
  }
  /// Registers among the sources are all written once.
  bool sources_are_single(const ir::Operation& operation) const;

 private:
  void find_uses(const ir::Function& function);
};

}  // namespace lockstep::isa::lowering
