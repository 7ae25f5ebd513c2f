#pragma once

#include <optional>
#include <string>

#include "core/parameters/schema.hpp"

namespace lockstep {

/// Value of a text as a given type, or the mistake in the text with the right form.
struct ParsedScalar {
  std::optional<ParameterScalar> value;
  std::string problem, advice;
};
ParsedScalar parse_scalar(const std::string& text, ParameterType type);

/// Returns the shortest text, with its unit, that parse_scalar() reads back to the same value.
std::string format_scalar(const ParameterScalar& value, ParameterType type);

/// Returns "bytes", "time", "cycles", "count"...: the unit that a writer of a value must know.
std::string unit_name(ParameterType type);

/// Returns the shortest decimal text that reads back to the same double.
std::string format_real(double value);

}  // namespace lockstep
