#include "jobs/supervise/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "jobs/run/results.hpp"

namespace lockstep {

ProgressLine::ProgressLine(bool quiet, const StatisticsRecorder* recorder)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), recorder_(recorder) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) std::fputc('\n', stderr);
}

void ProgressLine::progress(const ProgressReport& report) {
  constexpr double batch_interval = 60;
  if (quiet_ || !recorder_) return;
  if (!terminal_ && report.wall_seconds - last_logged_ < batch_interval) return;
  last_logged_ = report.wall_seconds;
  const double simulated = static_cast<double>(report.simulated.femtoseconds()) * 1e-9;
  const Totals totals(recorder_->layout(), recorder_->totals());
  const std::uint64_t blocks = totals.sum_over_tenants("dispatcher", "blocks_done");
  const std::uint64_t warps = totals.sum_over_tenants("sm", "warp_instructions");
  std::string text = fmt::format(
      "{:.3f} us simulated, {} blocks done, {:.2f} M warp instructions/s, {:.0f} s", simulated,
      blocks, static_cast<double>(warps) * 1e-6 / report.wall_seconds, report.wall_seconds);
  if (report.stop_at != Time::never() && simulated > 0) {
    const double stop = static_cast<double>(report.stop_at.femtoseconds()) * 1e-9;
    text += fmt::format(", at most {:.0f} s left",
                        report.wall_seconds * (stop - simulated) / simulated);
  }
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::note(const std::string& text) const {
  std::fprintf(stderr, "%slockstep: %s\n", shown_ && terminal_ ? "\r\033[K" : "", text.c_str());
}

}  // namespace lockstep
