#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/harness/kept_parts.hpp"

namespace lockstep {

/// The first part of a checkpoint that another one has otherwise; "" if none.
inline std::string kept_difference(const KeptParts& a, const KeptParts& b) {
  const auto joined = [](const KeptParts::Chunks& chunks) {
    std::vector<char> all;
    for (const std::vector<char>& chunk : chunks) all.insert(all.end(), chunk.begin(), chunk.end());
    return all;
  };
  for (const auto& [name, chunks] : a.parts) {
    const auto found = b.parts.find(name);
    if (found == b.parts.end()) return name + " is missing";
    const std::vector<char> one = joined(chunks), other = joined(found->second);
    if (one == other) continue;
    const auto [at, there] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    return name + " differs from byte " + std::to_string(at - one.begin()) + " of " +
           std::to_string(one.size()) + " on";
  }
  return "";
}

}  // namespace lockstep
