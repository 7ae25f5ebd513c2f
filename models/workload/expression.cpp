#include "models/workload/expression.hpp"

#include <muParser.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace lockstep {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

bool IntegerLiteral::fits(unsigned width) const {
  if (negative) return magnitude <= std::uint64_t{1} << (width - 1);
  return width == 64 || magnitude >> width == 0;
}

std::optional<IntegerLiteral> Expression::literal() const {
  IntegerLiteral number;
  std::string_view digits = text_;
  number.negative = digits.starts_with('-');
  if (number.negative) digits.remove_prefix(1);
  const bool hexadecimal = digits.starts_with("0x");
  if (hexadecimal) digits.remove_prefix(2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                            number.magnitude, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

double Expression::evaluate(const Variables& variables) const {
  if (const auto number = literal()) {
    const auto magnitude = static_cast<double>(number->magnitude);
    return number->negative ? -magnitude : magnitude;
  }
  double result = 0;
  try {
    mu::Parser parser;
    parser.DefineFun("ceil", [](mu::value_type x) { return std::ceil(x); });
    parser.DefineFun("floor", [](mu::value_type x) { return std::floor(x); });
    parser.DefineFun("log2", [](mu::value_type x) { return std::log2(x); });
    parser.DefineOprt(
        "%", [](mu::value_type a, mu::value_type b) { return std::fmod(a, b); }, mu::prMUL_DIV);
    for (const auto& [name, value] : variables) parser.DefineConst(name, value);
    parser.SetExpr(text_);
    result = parser.Eval();
  } catch (const mu::Parser::exception_type& error) {
    throw UserError(where_, "cannot evaluate \"" + text_ + "\": " + error.GetMsg(),
                    "expressions use parameters, counters, + - * / % ^ and ceil, floor, min, max, "
                    "log2");
  }
  if (!std::isfinite(result)) {
    throw UserError(where_, "\"" + text_ + "\" is not a finite number",
                    "is a parameter zero that divides?");
  }
  return result;
}

std::int64_t Expression::evaluate_integer(const Variables& variables, std::int64_t low,
                                          std::int64_t high) const {
  const double value = evaluate(variables);
  if (value != std::floor(value) || value < static_cast<double>(low) ||
      value > static_cast<double>(high)) {
    throw UserError(where_,
                    "\"" + text_ + "\" is " + number_text(value) + ", not a whole number from " +
                        std::to_string(low) + " to " + std::to_string(high),
                    "use ceil() or floor(), or change the parameters");
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace lockstep
