#pragma once

#include "core/parameters/node.hpp"

namespace lockstep {

/// Returns the value of a key that must be there.  Throws UserError if it is absent.
inline const Node& required_key(const Node& map, const Node& value, const char* key) {
  if (!value.exists()) throw map.missing(key, "add it");
  return value;
}

}  // namespace lockstep
