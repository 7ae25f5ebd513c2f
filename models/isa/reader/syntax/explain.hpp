/// Explains why a text is no PTX, with the right form.
#pragma once

#include <cstddef>
#include <string>

#include "models/isa/reader/syntax/syntax.hpp"

namespace lockstep::isa::syntax {

struct Expectation {
  const char* what;
  const char* advice;
  bool within_instruction = false;  ///< true: the message shows the form of the instruction
};

/// Thrown where the grammar cannot go on.
struct Unexpected {
  Position at;
  std::size_t byte;  ///< offset of the byte in the text
  Expectation expectation;
};

[[noreturn]] void explain(const Unexpected& error, const std::string& text,
                          const std::string& file);

/// Refuses deeply nested brackets: the depth of a parser is that of its stack.
void check_nesting(const std::string& text, const std::string& file);

}  // namespace lockstep::isa::syntax
