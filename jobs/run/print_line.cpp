#include "jobs/run/print_line.hpp"

#include <cstdio>

#include "jobs/supervise/terminal.hpp"

namespace lockstep {

void print_line(std::string_view line) {
  std::fputs(Terminal(stderr).clear_line(), stderr);
  std::fflush(stderr);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace lockstep
