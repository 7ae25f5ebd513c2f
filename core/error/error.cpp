#include "core/error/error.hpp"

#include <cstring>

namespace lockstep {

namespace {

std::string printable(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      result += c;
    } else {
      constexpr char digits[] = "0123456789abcdef";
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return result;
}

/// A line is for reading: of a formula of a hundred thousand brackets its ends will do.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 1000;
  if (text.size() <= most) return text;
  return text.substr(0, most / 2) + " ... " + text.substr(text.size() - most / 2);
}

}  // namespace

UserError::UserError(const std::string& where, const std::string& what, const std::string& advice)
    : std::runtime_error(printable((where.empty() ? "" : where + ": ") + shortened(what) +
                                   (advice.empty() ? "" : " - " + advice))) {}

void internal_error(const char* file, int line, const char* condition, const std::string& message) {
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " +
                      message + " (" + condition + " does not hold)");
}

}  // namespace lockstep
