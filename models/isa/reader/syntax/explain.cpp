#include "models/isa/reader/syntax/explain.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/isa/reader/advice/instruction_forms.hpp"

namespace lockstep::isa::syntax {
namespace {

constexpr std::size_t deepest = 100;
constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::string place(const std::string& file, Position at) {
  return file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

/// Returns the name, without modifiers, of the instruction around `byte`; "" if there is none.
std::string instruction_around(const std::string& text, std::size_t byte) {
  if (byte == 0) return "";
  std::size_t begin = text.find_last_of(";}:\n", byte - 1);
  begin = begin == std::string::npos ? 0 : begin + 1;
  begin = text.find_first_not_of(" \t\r{", begin);
  if (begin == std::string::npos) return "";
  if (text[begin] == '@') begin = text.find_first_not_of(" \t", text.find_first_of(" \t", begin));
  if (begin >= byte) return "";
  return text.substr(begin, std::min(text.find_first_not_of(letters, begin), byte) - begin);
}

std::string found_at(const std::string& text, std::size_t byte) {
  if (byte >= text.size()) return "the end of the file";
  const std::size_t end = text.find_first_of(" \t\r\n,;()[]{}", byte + 1);
  return "\"" + text.substr(byte, std::min<std::size_t>(end - byte, 20)) + "\"";
}

/// Returns the place behind the comment or quoted text that begins at `i`; `i` if none does.
std::size_t behind_comment(const std::string& text, std::size_t i) {
  const auto behind = [&](const char* end) {
    const std::size_t found = text.find(end, i + 1);
    return found == std::string::npos ? text.size() : found + 1;
  };
  if (text.compare(i, 2, "//") == 0) return behind("\n");
  if (text.compare(i, 2, "/*") == 0) return behind("*/");
  if (text[i] != '"') return i;
  const std::size_t end = text.find_first_of("\"\n", i + 1);
  return end == std::string::npos ? text.size() : end + 1;
}

}  // namespace

void explain(const Unexpected& error, const std::string& text, const std::string& file) {
  std::string advice = error.expectation.advice;
  const std::string name = instruction_around(text, error.byte);
  if (error.expectation.within_instruction && !name.empty())
    advice += "; " + instruction_advice(name);
  throw UserError(
      place(file, error.at),
      std::string("expected ") + error.expectation.what + ", found " + found_at(text, error.byte),
      advice);
}

void check_nesting(const std::string& text, const std::string& file) {
  Position at{1, 1};
  std::size_t depth = 0, line_begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t behind = behind_comment(text, i); behind != i) {
      const auto first = text.begin() + static_cast<std::ptrdiff_t>(i);
      const auto last = text.begin() + static_cast<std::ptrdiff_t>(behind);
      const auto lines = std::count(first, last, '\n');
      at.line += static_cast<std::uint32_t>(lines);
      if (lines > 0) line_begin = text.rfind('\n', behind - 1) + 1;
      i = behind - 1;
      continue;
    }
    const char c = text[i];
    if (c == '\n') {
      ++at.line;
      line_begin = i + 1;
    }
    if (c == '{' || c == '(' || c == '[') ++depth;
    if ((c == '}' || c == ')' || c == ']') && depth > 0) --depth;
    if (depth > deepest) {
      at.column = static_cast<std::uint32_t>(i - line_begin + 1);
      throw UserError(place(file, at), "brackets within brackets, more than 100 deep",
                      "close some before, or split the function");
    }
  }
}

}  // namespace lockstep::isa::syntax
