#include "jobs/run/print_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace lockstep {

void print_line(std::string_view line) {
  if (isatty(STDERR_FILENO) == 1) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace lockstep
