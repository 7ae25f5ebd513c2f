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

void print_warning(std::string_view warning) {
  std::fprintf(stderr, "%slockstep: warning: %.*s\n", Terminal(stderr).clear_line(),
               static_cast<int>(warning.size()), warning.data());
}

}  // namespace lockstep
