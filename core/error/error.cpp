#include "core/error/error.hpp"

#include <cstring>
#include <string_view>

namespace lockstep {

namespace {

bool is_control(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  if (byte(at) < 0x20 || byte(at) == 0x7f) return true;
  // U+0080 to U+009f in UTF-8: the first byte, and the second one.
  const auto is_second = [](unsigned b) { return b >= 0x80 && b < 0xa0; };
  return (byte(at) == 0xc2 && is_second(byte(at + 1))) ||
         (at > 0 && byte(at - 1) == 0xc2 && is_second(byte(at)));
}

std::string escaped(std::string_view text, char kept) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kept || !is_control(text, i)) {
      result += text[i];
      continue;
    }
    constexpr char digits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[i]);
    result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return result;
}

/// Shortens a line for reading: the ends of a formula with a hundred thousand brackets are enough.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 1000;
  if (text.size() <= most) return text;
  return text.substr(0, most / 2) + " ... " + text.substr(text.size() - most / 2);
}

}  // namespace

std::string printable(const std::string& text) {
  return escaped(text, ' ');
}

std::string printable_lines(const std::string& text) {
  return escaped(text, '\n');
}

UserError::UserError(const std::string& where, const std::string& what, const std::string& advice)
    : std::runtime_error(printable((where.empty() ? "" : where + ": ") + shortened(what) +
                                   (advice.empty() ? "" : " - " + advice))) {}

void internal_error(const char* file, int line, const char* condition, const std::string& message) {
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " +
                      message + " (" + condition + " does not hold)");
}

}  // namespace lockstep
