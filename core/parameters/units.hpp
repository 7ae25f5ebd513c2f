#pragma once

#include <optional>
#include <string>

#include "core/parameters/schema.hpp"

namespace lockstep {

/// Value of a text as a given type, or what is wrong with the text and how to write it.
struct ParsedScalar {
  std::optional<ParameterScalar> value;
  std::string problem, advice;
};
ParsedScalar parse_scalar(const std::string& text, ParameterType type);

/// The shortest text that parse_scalar() reads back to the same value, with its unit.
std::string format_scalar(const ParameterScalar& value, ParameterType type);

/// "bytes", "time", "cycles", "count"...: what a reader must know to write a value.
std::string unit_name(ParameterType type);

/// Shortest decimal text that reads back to the same double.
std::string format_real(double value);

}  // namespace lockstep
