/// `lockstep predict`: predictions for more ranks and threads from runs with --profile, with their
/// errors.
///
/// The error of a prediction is the larger of two: the uncertainty of the sample of windows, which
/// is the standard error of the mean of predictions from eight parts, each with every eighth
/// window; and, with several runs, half the range of the predictions from each run alone. Source:
/// own choice (random groups, as in survey statistics).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/error/error.hpp"
#include "jobs/options.hpp"
#include "jobs/profile/largest_costs.hpp"
#include "jobs/profile/measured_costs.hpp"
#include "jobs/profile/speedup.hpp"

namespace lockstep {
namespace {

constexpr std::size_t sample_parts = 8;

double standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return std::sqrt(squares / (count - 1) / count);
}

double half_range(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return (*most - *least) / 2;
}

class Predictions {
 public:
  explicit Predictions(const std::vector<MeasuredCosts>& runs)
      : costs_(least_of(runs)), model_(costs_.components, costs_.windows, costs_.ranks) {
    for (std::vector<WindowCostRow>& part : parts_of(costs_.windows, sample_parts))
      of_parts_.emplace_back(costs_.components, std::move(part), costs_.ranks);
    for (const MeasuredCosts& run : runs)
      of_runs_.emplace_back(run.components, run.windows, run.ranks);
  }

  const MeasuredCosts& costs() const { return costs_; }

  std::string line(int ranks, int threads) const {
    const Prediction prediction = model_.predict(ranks, threads);
    const auto speedups = [&](const std::vector<SpeedupModel>& models) {
      std::vector<double> values;
      for (const SpeedupModel& model : models)
        values.push_back(model.predict(ranks, threads).speedup);
      return values;
    };
    const double error =
        std::max(standard_error(speedups(of_parts_)), half_range(speedups(of_runs_)));
    return fmt::format("{:>8}{:>8}{:>9}{:>10.2f}{:>8.2f}   {}\n", ranks * threads, ranks, threads,
                       prediction.speedup, error, prediction.limit);
  }

 private:
  const MeasuredCosts costs_;
  const SpeedupModel model_;
  std::vector<SpeedupModel> of_parts_, of_runs_;
};

}  // namespace

int predict_command(const CommandLine& line) {
  const std::vector<MeasuredCosts> runs = read_costs(line.files);
  const Predictions predictions(runs);
  std::string text = largest_costs_text(predictions.costs().components, predictions.costs().ranks);
  text += fmt::format("\n{:>8}{:>8}{:>9}{:>10}{:>8}   {}\n", "workers", "ranks", "threads",
                      "speed-up", "+-", "limited by");
  for (int workers = 2; workers <= most_workers; workers *= 2) {
    text += predictions.line(1, workers);
    if (workers > line.threads && line.threads > 1)
      text += predictions.line(workers / line.threads, line.threads);
    text += predictions.line(workers, 1);
  }
  std::fputs(printable_lines(text).c_str(), stdout);
  return exit_done;
}

}  // namespace lockstep
