#include "models/vm/translation.hpp"

namespace lockstep {

void Translation::set_extents(std::uint16_t tenant, std::span<const Extent> extents) {
  spaces_[tenant].assign(extents.begin(), extents.end());
}

}  // namespace lockstep
