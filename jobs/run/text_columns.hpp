#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace lockstep {

/// Least width of terminals, which mails and batch logs share.
inline constexpr std::size_t text_columns = 80;

/// Returns the name, shortened in the middle if it is long.
inline std::string shortened(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  const std::size_t kept = columns - 2, end = kept / 2;
  return name.substr(0, kept - end) + ".." + name.substr(name.size() - end);
}

/// Returns a rate as text; a small one is not shown as zero.
inline std::string rate_text(double rate) {
  if (std::isnan(rate)) return "-";
  return rate > 0 && rate < 0.01 ? fmt::format("{:.1g}", rate) : fmt::format("{:.2f}", rate);
}

/// Returns the parts with commas between them, in lines that begin with `indent`.
inline std::string in_lines(const std::string& indent, const std::vector<std::string>& parts) {
  std::string text, line = indent;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
    const bool is_first = line.size() == indent.size();
    if (!is_first && line.size() + 1 + part.size() > text_columns) {
      text += line + "\n";
      line = std::string(indent.size(), ' ') + part;
      continue;
    }
    line += (is_first ? "" : " ") + part;
  }
  return text + line + "\n";
}

}  // namespace lockstep
