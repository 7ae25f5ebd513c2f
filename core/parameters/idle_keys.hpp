#pragma once

#include <string>
#include <vector>

#include "core/parameters/node.hpp"
#include "core/parameters/schema.hpp"

namespace lockstep {

/// A written key without effect beside the values of other keys.
struct IdleKey {
  Node node;
  std::string when;  ///< condition under which the key matters, worded to follow "only"

  /// Returns a line such as "v100.yaml:7:9: gpu.sm.l1.bytes does nothing: only with unified_bytes:
  /// 0".
  std::string text() const;
};

/// Returns the keys of `map` that a condition of the schema says to do nothing (only_if), in the
/// order of the declarations. `values`: values that were read from `map`.
std::vector<IdleKey> idle_keys(const ParameterSchema& schema, const void* values, const Node& map);

}  // namespace lockstep
