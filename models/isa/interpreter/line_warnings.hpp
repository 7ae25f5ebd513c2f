#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::isa {

/// Warnings, one for each line of PTX: the warning of the first block.
class LineWarnings {
 public:
  void add(std::uint32_t line, std::uint64_t block, const std::string& text) {
    const auto [known, is_new] = by_line_.try_emplace(line, block, text);
    if (!is_new && block < known->second.first) known->second = {block, text};
  }
  void add(const LineWarnings& others) {
    for (const auto& [line, warning] : others.by_line_) add(line, warning.first, warning.second);
  }
  void append_to(std::vector<std::string>* texts) const {
    if (texts == nullptr) return;
    for (const auto& [line, warning] : by_line_) texts->push_back(warning.second);
  }

 private:
  std::map<std::uint32_t, std::pair<std::uint64_t, std::string>> by_line_;
};

}  // namespace lockstep::isa
