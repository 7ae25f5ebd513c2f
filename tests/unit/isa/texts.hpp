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

inline const std::string assertion_declaration =
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param "
    ".b64 c) .noreturn;\n";

/// The call that nvcc makes of a failed assert() in line 12, of registers with the texts'
/// addresses.
inline std::string assertion_call(const std::string& expression, const std::string& file,
                                  const std::string& function) {
  return "{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;\n"
         "st.param.b64 [m], " +
         expression + ";\nst.param.b64 [f], " + file +
         ";\nst.param.b32 [l], 12;\nst.param.b64 [n], " + function +
         ";\nst.param.b64 [c], 1;\ncall.uni __assertfail, (m, f, l, n, c);\n}\n";
}

}  // namespace lockstep::isa
