#include "core/error/error.hpp"

#include <cstring>

namespace lockstep {

void internal_error(const char* file, int line, const char* condition, const std::string& message) {
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " +
                      message + " (" + condition + " does not hold)");
}

}  // namespace lockstep
