#pragma once

#include <cstdint>

#include "models/isa/types.hpp"

namespace lockstep::isa {

/// `count` floats that may differ by the tolerance times their own magnitude, or times the given
/// one if that is larger.
struct InexactFloats {
  std::uint64_t offset = 0, count = 0;  ///< `offset` in bytes, `count` in floats
  Type type = Type::f32;
  double tolerance = 0, magnitude = 0;

  bool operator==(const InexactFloats&) const = default;
};

}  // namespace lockstep::isa
