#include "jobs/profile/speedup.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

#include "jobs/profile/dealt_ranks.hpp"
#include "jobs/profile/largest_costs.hpp"

namespace lockstep {
namespace {

/// Returns the time of a synchronisation: measured as 2.5 us at two threads; it grows with the
/// depth of the tree.
double synchronisation_nanoseconds(int threads) {
  double cost = threads > 1 ? 1500 : 0;
  for (int t = 1; t < threads; t *= 2) cost += 1000;
  return cost;
}

/// Returns the time of an exchange: two ranks of one computer take about 1 us by shared memory, and
/// a reduction adds a step per doubling.
double exchange_nanoseconds(int ranks) {
  double cost = ranks > 1 ? 500 : 0;
  for (int r = 1; r < ranks; r *= 2) cost += 500;
  return cost;
}

/// Work below which a rank does not use several threads (thread_executor.cpp).
constexpr double least_shared_nanoseconds = 9000;

/// Gain from caches: each of several cores has a smaller part of the machine in its cache; on two
/// cores, one core takes 1.06 to 1.28 times as long for the components.
constexpr double cache_gain = 1.1;

/// Costs of one rank in a window, dealt out longest first.
class Threads {
 public:
  explicit Threads(int threads) {
    for (int t = 0; t < threads; ++t) loads_.push(0);
  }
  void add(double cost) {
    const double load = loads_.top() + cost;
    loads_.pop();
    loads_.push(load);
    busiest_ = std::max(busiest_, load);
    longest_ = std::max(longest_, cost);
  }
  double busiest() const { return busiest_; }
  /// Returns whether a single component takes as long as all of the window.
  bool is_one_component() const { return longest_ >= busiest_; }

 private:
  std::priority_queue<double, std::vector<double>, std::greater<>> loads_;
  double busiest_ = 0, longest_ = 0;
};

std::vector<WindowCostRow> longest_first(std::vector<WindowCostRow> windows) {
  std::sort(windows.begin(), windows.end(), [](const WindowCostRow& a, const WindowCostRow& b) {
    if (a.window != b.window) return a.window < b.window;
    if (a.windows != b.windows) return a.windows < b.windows;
    if (a.nanoseconds != b.nanoseconds) return a.nanoseconds > b.nanoseconds;
    return a.component < b.component;
  });
  return windows;
}

}  // namespace

/// Time beyond an equal share of the work, by cause.
struct SpeedupModel::Losses {
  std::map<std::string, double> nanoseconds;

  std::string largest() const {
    const auto most =
        std::max_element(nanoseconds.begin(), nanoseconds.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == nanoseconds.end() ? "nothing" : most->first;
  }
};

SpeedupModel::SpeedupModel(const std::vector<ComponentCostRow>& components,
                           std::vector<WindowCostRow> windows, const std::vector<RankRow>& ranks)
    : components_(components), rows_(longest_first(std::move(windows))) {
  const auto alike = [](const WindowCostRow& a, const WindowCostRow& b) {
    return a.window == b.window && a.windows == b.windows;
  };
  for (std::size_t row = 0; row < rows_.size();) {
    MeasuredWindow window{row, row, static_cast<double>(rows_[row].windows), 0};
    for (; row < rows_.size() && alike(rows_[row], rows_[window.first]); ++row)
      window.nanoseconds += rows_[row].nanoseconds;
    window.last = row;
    in_windows_ += window.weight * window.nanoseconds;
    windows_.push_back(window);
  }
  double all = 0;
  for (const ComponentCostRow& row : components) all += static_cast<double>(row.nanoseconds);
  if (ranks.empty() || all <= 0) return;
  between_ = ranks.front().other * 1e9 * in_windows_ / all;
  // Disturbances of the computer are excluded from the costs of components; the rest of the time
  // contains them in proportion.
  const double disturbed = ranks.front().working * 1e9;
  if (disturbed > all) between_ *= all / disturbed;
}

std::vector<int> SpeedupModel::deal_to_ranks(int ranks) const {
  return dealt_to_ranks(components_, ranks);
}

double SpeedupModel::window_nanoseconds(const MeasuredWindow& window, const std::vector<int>& home,
                                        int ranks, int threads, Losses& losses) const {
  const bool is_shared = window.nanoseconds / ranks > least_shared_nanoseconds;
  std::vector<Threads> loads(static_cast<std::size_t>(ranks), Threads(is_shared ? threads : 1));
  for (std::size_t row = window.first; row < window.last; ++row) {
    const WindowCostRow& cost = rows_[row];
    const int rank = cost.component < home.size() ? home[cost.component] : 0;
    loads[static_cast<std::size_t>(rank)].add(cost.nanoseconds);
  }
  const auto slowest = std::max_element(
      loads.begin(), loads.end(),
      [](const Threads& a, const Threads& b) { return a.busiest() < b.busiest(); });
  const std::uint32_t longest = rows_[window.first].component;
  std::string cause = "uneven shares of ranks and threads";
  if (slowest->is_one_component() && longest < components_.size())
    cause = "one " + kind_of_component(components_[longest].component) + " at a time";
  if (!is_shared && threads > 1) cause = "windows with too little work to share";
  losses.nanoseconds[cause] +=
      window.weight * (slowest->busiest() - window.nanoseconds / (ranks * threads));
  const double synchronisation = is_shared ? synchronisation_nanoseconds(threads) : 0;
  losses.nanoseconds["synchronisation of threads"] += window.weight * synchronisation;
  const bool on_several_cores = ranks > 1 || (is_shared && threads > 1);
  return slowest->busiest() / (on_several_cores ? cache_gain : 1) + synchronisation;
}

Prediction SpeedupModel::predict(int ranks, int threads) const {
  const std::vector<int> home = deal_to_ranks(ranks);
  Losses losses;
  double parallel = between_;
  losses.nanoseconds["recording epochs"] = between_;
  for (const MeasuredWindow& window : windows_) {
    const double exchange = exchange_nanoseconds(ranks);
    parallel +=
        window.weight * (window_nanoseconds(window, home, ranks, threads, losses) + exchange);
    losses.nanoseconds["exchange between ranks"] += window.weight * exchange;
  }
  Prediction result{ranks, threads, 1, losses.largest()};
  if (parallel > 0) result.speedup = (in_windows_ + between_) / parallel;
  return result;
}

std::vector<SpeedupRow> predicted_speedups(const std::vector<ComponentCostRow>& components,
                                           const std::vector<WindowCostRow>& windows,
                                           const std::vector<RankRow>& ranks) {
  const SpeedupModel model(components, windows, ranks);
  std::vector<SpeedupRow> rows;
  for (int threads = 2; threads <= most_workers; threads *= 2)
    rows.push_back({static_cast<std::uint32_t>(threads), model.predict(1, threads).speedup});
  return rows;
}

}  // namespace lockstep
