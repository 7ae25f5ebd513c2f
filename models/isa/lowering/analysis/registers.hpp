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
  /// Written once, in all lanes that are there, before every use: wherever it is read, its sources
  /// (if they are so too) still hold what it was computed from.  One definition alone is not
  /// enough: a register that a loop reads before it writes it holds the last iteration's value.
  bool is_single(std::uint32_t index) const {
    return entries[index].definitions == 1 && !entries[index].guarded && entries[index].dominates;
  }
  /// Registers among the sources are all written once.
  bool sources_are_single(const ir::Operation& operation) const;

 private:
  void find_uses(const ir::Function& function);
};

}  // namespace lockstep::isa::lowering
