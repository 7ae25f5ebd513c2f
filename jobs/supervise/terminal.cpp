#include "jobs/supervise/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace lockstep {

static bool wants_colour() {
  const char* no = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  return (no == nullptr || *no == '\0') && (kind == nullptr || std::string(kind) != "dumb");
}

Terminal::Terminal(std::FILE* stream)
    : stream_(stream), is_one_(isatty(fileno(stream)) == 1), coloured_(is_one_ && wants_colour()) {}

std::size_t Terminal::columns() const {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool known = ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual;
}

std::size_t Terminal::rows() const {
  constexpr std::size_t usual = 24;
  winsize size{};
  const bool known = ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : usual;
}

std::string Terminal::bold(const std::string& text) const {
  return coloured_ ? "\033[1m" + text + "\033[0m" : text;
}

}  // namespace lockstep
