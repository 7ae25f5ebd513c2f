#include "core/error/input_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lockstep {

std::string why_unreadable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (!S_ISREG(status.st_mode)) return "it is a pipe or device, no regular file";
  return access(path.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace lockstep
