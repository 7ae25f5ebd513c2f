#pragma once

// Reference of the workload page_view_count: sets of visitors by page.

#include <algorithm>
#include <map>
#include <set>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::page_view_count {

inline void run(const Parameters&, Buffers& buffers) {
  const auto page = buffers.as<unsigned>("page"), visitor = buffers.as<unsigned>("visitor");
  const auto address = buffers.as<char>("address");
  std::map<unsigned, std::set<unsigned>> visitors;
  for (std::size_t i = 0; i < page.size(); ++i) {
    const std::string digits = std::to_string(page[i]);
    const std::string text = "/page/" + std::string(10 - digits.size(), '0') + digits;
    std::copy(text.begin(), text.end(), &address[16 * i]);
    visitors[page[i]].insert(visitor[i]);
  }
  for (const auto& [of, seen_by] : visitors) {
    buffers.as<unsigned>("result")[of] = static_cast<unsigned>(seen_by.size());
  }
}

}  // namespace lockstep::reference::page_view_count
