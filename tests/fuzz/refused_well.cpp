#include <stdexcept>

#include "core/error/error.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {

void refused_well(const std::function<void()>& read) {
  try {
    read();
  } catch (const UserError& error) {
    const std::string text = error.what();
    const std::size_t dash = text.rfind(" - ");
    if (dash == std::string::npos || dash + 3 == text.size())
      throw std::logic_error("refused without advice: " + text);
    if (text.size() > 4000) throw std::logic_error("refused at great length: " + text);
  }
}

}  // namespace lockstep
