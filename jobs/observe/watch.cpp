/// `lockstep watch`: follows the output of a run in the terminal until the run ends.
///
/// The file is opened anew for each look, so that nothing of it is held while its run goes on, and
/// what takes its name at the end, or when a run is resumed, is seen.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "core/error/error.hpp"
#include "core/output/claimed_path.hpp"
#include "jobs/observe/metric.hpp"
#include "jobs/observe/observed_run.hpp"
#include "jobs/observe/units.hpp"
#include "jobs/options.hpp"

namespace lockstep {
namespace {

constexpr const char* clear_to_end = "\033[J";

/// A line per tenant with all metrics, of these epochs.
std::string table(const ObservedRun& run, EpochRange epochs) {
  std::string text = fmt::format("{:<16}", "tenant");
  std::vector<std::vector<double>> values;
  for (const Metric& metric : metrics()) {
    text += fmt::format("{:>11}", metric.short_title);
    const MetricSeries series(run, metric, epochs);
    if (epochs.count == run.times().size()) {
      values.push_back(of_whole_run(run, metric, series));
      continue;
    }
    values.emplace_back();
    for (std::size_t tenant = 0; tenant < run.tenants().size(); ++tenant)
      values.back().push_back(series.of_all(tenant));
  }
  text += '\n';
  for (std::size_t tenant = 0; tenant < run.tenants().size(); ++tenant) {
    text += fmt::format("{:<16.16}", run.tenants()[tenant]);
    for (std::size_t m = 0; m < values.size(); ++m)
      text += fmt::format("{:>11}", metrics()[m].short_text(values[m][tenant]));
    text += '\n';
  }
  return text;
}

std::string progress(const ObservedRun& run) {
  const double stop =
      static_cast<double>(run.configuration().at("simulation").at("stop_at").time().femtoseconds());
  const double now = static_cast<double>(run.end());
  std::string text = fmt::format("{:.3f} us simulated", now / femtoseconds_per_microsecond);
  if (stop > 0) {
    text += fmt::format(", {:.0f}% of at most {:.3f} us", 100 * now / stop,
                        stop / femtoseconds_per_microsecond);
  }
  return text + fmt::format(", {} epochs", run.times().size());
}

/// Writes over what it wrote before, if this is a terminal.
class Screen {
 public:
  void show(const std::string& text) {
    if (is_terminal_ && lines_ > 0) fmt::print("\033[{}A{}", lines_, clear_to_end);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  const bool is_terminal_ = isatty(STDOUT_FILENO) == 1;
  std::size_t lines_ = 0;
};

/// Nothing if the file cannot be read since its run has just begun.
std::optional<ObservedRun> look(const std::string& path) {
  try {
    return ObservedRun(path);
  } catch (const UserError&) {
    if (ClaimedPath::is_claimed(path)) return std::nullopt;
    throw;
  }
}

}  // namespace

int watch_command(const CommandLine& line) {
  Screen screen;
  std::uint64_t seen = 0;
  bool is_first = true;
  while (true) {
    // Asked first: who ends in between has written all by the time of the look.
    const bool is_written = ClaimedPath::is_claimed(line.first_file);
    const std::optional<ObservedRun> run = look(line.first_file);
    if (run && run->is_finished()) {
      screen.show(line.first_file + ": " + progress(*run) + ", done; of the whole run:\n" +
                  table(*run, run->all()));
      return exit_done;
    }
    if (run && (is_first || run->times().size() != seen)) {
      const std::uint64_t epochs = run->times().size();
      seen = std::min(seen, epochs);  // a run begun anew
      screen.show(line.first_file + ": " + progress(*run) + "; since the last look:\n" +
                  table(*run, {seen, epochs - seen}));
      seen = epochs;
      is_first = false;
    }
    if (!is_written) {
      throw UserError(line.first_file, "its run has left it unfinished",
                      "if there is a checkpoint, go on with `lockstep run SCENARIO --resume FILE`");
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(line.interval_seconds));
  }
}

}  // namespace lockstep
