#include "jobs/supervise/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "jobs/run/results.hpp"

namespace lockstep {
namespace {

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

void Rate::look(std::uint64_t count, double seconds) {
  if (seconds <= seconds_) return;
  constexpr double newest = 0.2;
  const double now = static_cast<double>(count - count_) / (seconds - seconds_);
  per_second_ = known_ ? newest * now + (1 - newest) * per_second_ : now;
  known_ = true;
  count_ = count;
  seconds_ = seconds;
}

std::string fitted(const std::vector<std::string>& parts, std::size_t columns) {
  std::string line = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    if (line.size() + 2 + parts[i].size() > columns) break;
    line += ", " + parts[i];
  }
  return line.substr(0, columns);
}

ProgressLine::ProgressLine(bool quiet, const StatisticsRecorder* recorder,
                           std::optional<std::uint64_t> blocks)
    : quiet_(quiet),
      terminal_(stderr),
      recorder_(recorder),
      expected_blocks_(blocks),
      blocks_(counts().blocks),
      warp_instructions_(counts().warp_instructions) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_.is_one()) std::fputc('\n', stderr);
}

ProgressLine::Counts ProgressLine::counts() const {
  if (!recorder_) return {};
  const Totals totals(recorder_->layout(), recorder_->totals());
  return {totals.sum_over_tenants("dispatcher", "blocks_done"),
          totals.sum_over_tenants("sm", "warp_instructions")};
}

std::string ProgressLine::share_text(std::uint64_t blocks) const {
  if (!expected_blocks_ || *expected_blocks_ == 0) return fmt::format("{} blocks done", blocks);
  return fmt::format("{}% of {} blocks",
                     std::min<std::uint64_t>(100, 100 * blocks / *expected_blocks_),
                     *expected_blocks_);
}

std::string ProgressLine::left_text(std::uint64_t blocks) const {
  if (!expected_blocks_ || blocks >= *expected_blocks_ || blocks_.per_second() <= 0) return "";
  return "about " +
         duration_text(static_cast<double>(*expected_blocks_ - blocks) / blocks_.per_second()) +
         " left";
}

void ProgressLine::progress(const ProgressReport& report) {
  constexpr double batch_interval = 60;
  if (quiet_ || !recorder_) return;
  const Counts now = counts();
  blocks_.look_at_burst(now.blocks, report.wall_seconds);
  warp_instructions_.look(now.warp_instructions, report.wall_seconds);
  if (!terminal_.is_one() && report.wall_seconds - last_logged_ < batch_interval) return;
  last_logged_ = report.wall_seconds;
  const double simulated = static_cast<double>(report.simulated.femtoseconds()) * 1e-9;
  const std::vector<std::string> parts = {
      fmt::format("{:.3f} us simulated", simulated), share_text(now.blocks), left_text(now.blocks),
      fmt::format("{:.2f} M warp instructions/s", warp_instructions_.per_second() * 1e-6),
      "after " + duration_text(report.wall_seconds)};
  constexpr std::size_t any = 1000;
  const std::string text = fitted(parts, terminal_.is_one() ? terminal_.columns() - 1 : any);
  const std::size_t first = std::min(parts.front().size(), text.size());
  std::fprintf(stderr, "%s%s%s%s", terminal_.clear_line(),
               terminal_.bold(text.substr(0, first)).c_str(), text.substr(first).c_str(),
               terminal_.is_one() ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::note(const std::string& text) const {
  std::fprintf(stderr, "%slockstep: %s\n", shown_ ? terminal_.clear_line() : "", text.c_str());
}

}  // namespace lockstep
