#include "core/error/file_advice.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep {

std::string file_advice(const std::string& reason, const std::string& usual) {
  constexpr std::pair<int, const char*> known[] = {
      {EMFILE, "raise the limit of open files (ulimit -n)"},
      {ENFILE, "close files of other programs: the computer can open no more"},
      {EFBIG, "raise the limit of a file's size (ulimit -f)"},
      {EDQUOT, "free space in your quota of that file system, or choose another with --output"},
      {ENOSPC, "free space on that file system, or choose another with --output"},
      {EACCES, "choose a writable place with --output"},
      {EPERM, "choose a writable place with --output"},
      {EROFS, "choose a writable place with --output"},
      {ENAMETOOLONG, "choose a shorter --output"},
  };
  for (const auto& [error, advice] : known)
    if (reason == std::strerror(error)) return advice;
  return usual;
}

}  // namespace lockstep
