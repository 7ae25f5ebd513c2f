#include "core/output/durable.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
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

bool copy_whole(const std::string& from, const std::string& to) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return false;
  const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  ssize_t copied = out < 0 ? -1 : 1;
  while (copied > 0) copied = sendfile(out, in, nullptr, most);
  const int error = errno;
  close(in);
  const bool closed = out < 0 || close(out) == 0;
  if (copied < 0) errno = error;
  return copied == 0 && closed;
}

bool take_name(const std::string& from, const std::string& to) {
  if (!reach_disk(from) || std::rename(from.c_str(), to.c_str()) != 0) return false;
  const std::filesystem::path folder = std::filesystem::path(to).parent_path();
  // A file system without this operation is no error.
  reach_disk(folder.empty() ? "." : folder.string());
  return true;
}

}  // namespace lockstep
