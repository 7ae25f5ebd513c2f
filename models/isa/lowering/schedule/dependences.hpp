/// Order that the operations of a stretch must keep.
/// Source: architecture.md, section 8, "What `--check` means" (what loads pass).
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

struct Dependence {
  std::uint32_t to;
  bool carries_value;  ///< the later operation waits for the earlier one's result
};

/// Returns, for each operation of [first, first + count) of a block, the later ones that depend on
/// it, as indices from `first`.  Loads pass stores that they cannot alias: in another space, to
/// read-only data, or at another offset from the same base register.
std::vector<std::vector<Dependence>> dependences(const ir::Operation* first, std::uint32_t count);

}  // namespace lockstep::isa::lowering
