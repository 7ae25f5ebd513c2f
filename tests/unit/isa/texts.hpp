#pragma once

#include <string>

namespace lockstep::isa {

/// A variable that holds a string literal, as compilers write it.
inline std::string text_variable(const std::string& name, const std::string& text,
                                 const std::string& space = "global") {
  std::string bytes;
  for (const char c : text) bytes += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return "." + space + " .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" +
         bytes + "0};\n";
}

}  // namespace lockstep::isa
