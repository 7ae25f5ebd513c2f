/// Layout of a kernel's .shared variables: in the order of the module, with their alignment; arrays
/// without a size share the memory that the launch adds behind the others.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"

namespace lockstep::isa {

struct SharedLayout {
  std::vector<std::uint64_t> offsets;  ///< offset of each variable
  std::uint64_t bytes = 0;             ///< bytes of the arrays with a size
};
/// `used`: whether each variable is used.
SharedLayout lay_out_shared(const std::vector<ir::Variable>& variables,
                            const std::vector<bool>& used);

/// Marks the variables a function names.
void mark_shared(const ir::Function& function, std::vector<bool>& used);

namespace lowering {
/// Gives shared variables of a kernel without calls their offsets. They become immediates, so that
/// addresses fold and alignment is known.
void place_shared(ir::Function& function);
}  // namespace lowering

}  // namespace lockstep::isa
