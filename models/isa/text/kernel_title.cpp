#include "models/isa/text/kernel_title.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace lockstep::isa {

std::string kernel_title(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  // A single letter would be taken for a type: `f` is no float.
  if (status != 0 || !name.starts_with("_Z")) return name;
  const std::string title = text.get(), result = "void ";
  return title.starts_with(result) ? title.substr(result.size()) : title;
}

}  // namespace lockstep::isa
