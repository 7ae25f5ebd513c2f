#include "jobs/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace lockstep {

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) std::fputc('\n', stderr);
}

void ProgressLine::progress(const ProgressReport& report) {
  constexpr double batch_interval = 60;
  if (quiet_) return;
  if (!terminal_ && report.wall_seconds - last_logged_ < batch_interval) return;
  last_logged_ = report.wall_seconds;
  const double simulated = static_cast<double>(report.simulated.femtoseconds()) * 1e-9;
  std::string text = fmt::format("{:.3f} us simulated, {} windows, {:.0f} s", simulated,
                                 report.windows, report.wall_seconds);
  if (report.stop_at != Time::never() && simulated > 0) {
    const double stop = static_cast<double>(report.stop_at.femtoseconds()) * 1e-9;
    text += fmt::format(", at most {:.0f} s left",
                        report.wall_seconds * (stop - simulated) / simulated);
  }
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace lockstep
