#pragma once

#include <string>

namespace lockstep {

/// Returns a text as JSON writes it, also inside of a page: no "</" in it.
std::string json_text(const std::string& text);
/// Returns a number, in the shortest form that reads back the same; null if it is none.
std::string json_number(double value);

}  // namespace lockstep
