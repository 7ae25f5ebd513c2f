#pragma once

#include <string>

namespace lockstep {

/// Returns a text in JSON form, safe inside of a page: without "</".
std::string json_text(const std::string& text);
/// Returns a number in the shortest form that reads back to the same value; null for NaN and
/// infinity.
std::string json_number(double value);

}  // namespace lockstep
