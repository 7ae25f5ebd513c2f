#include "core/output/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace lockstep {

bool reach_disk(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool good = fsync(descriptor) == 0;
  const int error = errno;
  close(descriptor);
  errno = error;
  return good;
}

bool take_name(const std::string& from, const std::string& to) {
  if (!reach_disk(from) || std::rename(from.c_str(), to.c_str()) != 0) return false;
  const std::filesystem::path folder = std::filesystem::path(to).parent_path();
  reach_disk(folder.empty() ? "." : folder.string());  // not every file system can
  return true;
}

}  // namespace lockstep
