#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/isa/reader/syntax/syntax.hpp"

namespace lockstep::isa::syntax {

/// A parse tree's node: the grammar rule that matched, its place, and the text.
struct Node {
  std::string_view rule;
  std::string text;
  Position at;
  std::vector<Node> children;

  bool is(std::string_view name) const { return rule == name; }
};

/// Returns the parse tree of a module.  Throws UserError where the text does not follow the
/// grammar.
Node parse_tree(const std::string& text, const std::string& file);

}  // namespace lockstep::isa::syntax
