#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/parameters/node.hpp"

namespace lockstep {

/// Parameters of a workload and the counters of the loops around a step.
using Variables = std::map<std::string, double>;

/// Returns a number as people write it, for messages: "2.5", "1e+20".
std::string number_text(double value);

/// An integer as it is written, decimal or hexadecimal.
struct IntegerLiteral {
  std::uint64_t magnitude = 0;
  bool negative = false;

  /// Returns the number in two's complement.
  std::uint64_t bits() const { return negative ? 0 - magnitude : magnitude; }
  /// Returns whether the literal is a signed or an unsigned number of `width` bits.
  bool fits(unsigned width) const;
};

/// A formula of a workload file, over its parameters and counters: `ceil(n / block)`.
/// Functions: those of muParser plus ceil, floor, log2, and operator %.
class Expression {
 public:
  Expression() = default;
  explicit Expression(const Node& node) : text_(node.text()), where_(node.where()) {}
  Expression(std::string text, std::string where)
      : text_(std::move(text)), where_(std::move(where)) {}

  bool given() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  const std::string& where() const { return where_; }

  /// Returns the number, exact up to 64 bits, if the expression is only a number; formulas have 53
  /// bits.
  std::optional<IntegerLiteral> literal() const;
  /// Returns the value.  Throws UserError with the position for an unknown name, bad syntax or a
  /// result that is not a number (division by zero).
  double evaluate(const Variables& variables) const;
  /// Returns the value as evaluate() does; it must be a whole number in [low, high].
  std::int64_t evaluate_integer(const Variables& variables, std::int64_t low,
                                std::int64_t high) const;

 private:
  std::string text_, where_;
};

}  // namespace lockstep
