/// `lockstep watch`: follows the output of a run in the terminal until the run ends.
///
/// The file is opened again for each look, so that it is not held while its run goes on, and a new
/// file with its name (at the end, or of a resumed run) is found.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/error/error.hpp"
#include "core/output/claimed_path.hpp"
#include "jobs/observe/metric.hpp"
#include "jobs/observe/observed_run.hpp"
#include "jobs/observe/units.hpp"
#include "jobs/options.hpp"
#include "jobs/supervise/terminal.hpp"

namespace lockstep {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t name_columns = 16, metric_columns = 11;

/// Returns a line per tenant, of these epochs, with as many metrics as fit in `columns`.
Lines table(const ObservedRun& run, EpochRange epochs, std::size_t columns) {
  const std::size_t shown =
      columns < name_columns
          ? 0
          : std::min(metrics().size(), (columns - name_columns) / metric_columns);
  Lines lines{fmt::format("{:<{}}", "tenant", name_columns)};
  for (const std::string& tenant : run.tenants())
    lines.push_back(fmt::format("{:<{}.{}}", printable(tenant), name_columns, name_columns));
  for (std::size_t m = 0; m < shown; ++m) {
    const Metric& metric = metrics()[m];
    lines[0] += fmt::format("{:>{}}", metric.short_title, metric_columns);
    const MetricSeries series(run, metric, epochs);
    std::vector<double> values;
    if (epochs.count == run.times().size()) {
      values = of_whole_run(run, metric, series);
    } else {
      for (std::size_t tenant = 0; tenant < run.tenants().size(); ++tenant)
        values.push_back(series.of_all(tenant));
    }
    for (std::size_t tenant = 0; tenant < values.size(); ++tenant)
      lines[1 + tenant] += fmt::format("{:>{}}", metric.short_text(values[tenant]), metric_columns);
  }
  return lines;
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

/// Screen that overwrites its own earlier lines, if it is a terminal; it prints only as many lines
/// as fit.
class Screen {
 public:
  /// Returns the number of columns that a line may have.
  std::size_t columns() const {
    constexpr std::size_t any = 1000;
    return terminal_.is_one() ? terminal_.columns() - 1 : any;
  }

  void show(Lines lines) {
    if (terminal_.is_one()) fit(lines);
    std::string text;
    if (lines_ > 0) text = fmt::format("\033[{}A\r", lines_);
    for (const std::string& line : lines) text += line + terminal_.clear_rest() + '\n';
    text += terminal_.clear_below();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if (terminal_.is_one()) lines_ = lines.size();
  }

 private:
  /// Cuts lines that would wrap, and replaces excess lines by their number: otherwise the next look
  /// would not know where this one began.
  void fit(Lines& lines) const {
    const std::size_t most = std::max<std::size_t>(terminal_.rows(), 2) - 1;
    if (lines.size() > most) {
      const std::size_t left_out = lines.size() - most + 1;
      lines.resize(most);
      lines.back() = fmt::format("and {} more lines", left_out);
    }
    for (std::string& line : lines) line = fmt::format("{:.{}}", line, columns());
  }

  const Terminal terminal_{stdout};
  std::size_t lines_ = 0;
};

/// Returns the run; nothing if its file cannot be read because the run has just begun.
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
  const auto show = [&](const ObservedRun& run, const char* of, EpochRange epochs) {
    Lines lines = table(run, epochs, screen.columns());
    lines.insert(lines.begin(), printable(line.first_file) + ": " + progress(run) + of);
    screen.show(std::move(lines));
  };
  std::uint64_t seen = 0;
  bool is_first = true;
  while (true) {
    // This is asked first: a run that ends in between has written everything by the time of the
    // look.
    const bool is_written = ClaimedPath::is_claimed(line.first_file);
    const std::optional<ObservedRun> run = look(line.first_file);
    // A complete output that is claimed is an older one, which a starting run will replace.
    if (run && run->is_finished() && !is_written) {
      show(*run, ", done; of the whole run:", run->all());
      return exit_done;
    }
    if (run && !run->is_finished() && (is_first || run->times().size() != seen)) {
      const std::uint64_t epochs = run->times().size();
      seen = std::min(seen, epochs);  // a run that has begun anew has fewer epochs
      show(*run, "; since the last look:", {seen, epochs - seen});
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
