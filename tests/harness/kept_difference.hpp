#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/harness/kept_parts.hpp"

namespace lockstep {

/// Of what the engine says first of a component, behind the mark, name and version of its section:
/// up to where it has simulated, which the components of a kind have in common that share a rank.
constexpr std::size_t reached_begin = 4 + 8 + 6 + 4, reached_end = reached_begin + 8;

/// The first part of a checkpoint that another one, of the same moment, has otherwise; "" if none.
inline std::string kept_difference(const KeptParts& a, const KeptParts& b) {
  const auto joined = [](const KeptParts::Chunks& chunks) {
    std::vector<char> all;
    for (const std::vector<char>& chunk : chunks) all.insert(all.end(), chunk.begin(), chunk.end());
    return all;
  };
  for (const auto& [name, chunks] : a.parts) {
    const auto found = b.parts.find(name);
    if (found == b.parts.end()) return name + " is missing";
    std::vector<char> one = joined(chunks), other = joined(found->second);
    if (name.starts_with("components/") && std::min(one.size(), other.size()) > reached_end)
      std::copy(&one[reached_begin], &one[reached_end], &other[reached_begin]);
    if (one == other) continue;
    const auto [at, there] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    return name + " differs from byte " + std::to_string(at - one.begin()) + " of " +
           std::to_string(one.size()) + " on";
  }
  return "";
}

}  // namespace lockstep
