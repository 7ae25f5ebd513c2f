#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace lockstep {

/// Reader of a stream: a person at a terminal, or a file.
class Terminal {
 public:
  explicit Terminal(std::FILE* stream);

  bool is_one() const { return is_one_; }
  /// Returns the number of characters in a line of the terminal, asked each time, since windows
  /// change their size.
  std::size_t columns() const;
  /// Returns how many lines the terminal has.
  std::size_t rows() const;
  /// Returns the text in bold on a terminal, unless the environment variable NO_COLOR says
  /// otherwise (no-color.org).
  std::string bold(const std::string& text) const;
  /// Returns the text that clears everything right of the cursor; "" in a file.
  const char* clear_rest() const { return is_one_ ? "\033[K" : ""; }
  const char* clear_below() const { return is_one_ ? "\033[J" : ""; }
  /// Takes what stands in the line away; "" in a file.
  const char* clear_line() const { return is_one_ ? "\r\033[K" : ""; }

 private:
  std::FILE* const stream_;
  const bool is_one_, coloured_;
};

}  // namespace lockstep
