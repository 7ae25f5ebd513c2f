#pragma once

// Reference of the workload inverted_index.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::inverted_index {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto text = buffers.as<unsigned>("text");
  const auto document = static_cast<unsigned>(integer(parameters, "document"));
  const auto occurrences = buffers.as<unsigned>("occurrences");
  const auto first = buffers.as<unsigned>("first"), last = buffers.as<unsigned>("last");
  for (std::size_t word = 0; word < first.size(); ++word) first[word] = last[word] = 0xffffffffu;
  for (unsigned i = 0; i < text.size(); ++i) {
    if (occurrences[text[i]]++ == 0) first[text[i]] = i / document;
    last[text[i]] = i / document;
  }
}

}  // namespace lockstep::reference::inverted_index
