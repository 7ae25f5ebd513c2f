#include "jobs/profile/speedup.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

#include "core/output/recorder.hpp"
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

/// Work below which a rank does not use several threads, at these times of a synchronisation
/// (thread_executor.cpp).
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
    : components_(components),
      rows_(longest_first(std::move(windows))),
      windows_(measured_windows(rows_, components.size())) {
  for (const MeasuredWindow& window : windows_) in_windows_ += window.weight * window.nanoseconds;
  double all = 0;
  for (const ComponentCostRow& row : components) all += static_cast<double>(row.nanoseconds);
  if (ranks.empty() || all <= 0) return;
  const RankRow& measured = ranks.front();
  // Disturbances of the computer are excluded from the costs of components; the rest of the time
  // contains them in proportion.
  const double recorded = 1e9 * in_windows_ / all;
  const double undisturbed = std::min(1.0, all / std::max(measured.working * 1e9, 1.0));
  const double scale = recorded * undisturbed;
  sampling_ = std::min(measured.sampling, measured.other) * scale;
  const double flushing = std::min(measured.flushing * scale, measured.other * scale - sampling_);
  collecting_ = measured.other * scale - sampling_ - flushing;
  if (measured.flushes > 0) {
    most_flushes_ = measured.flushes;
    least_flushes_ = std::min(std::floor(measured.full_flushes), most_flushes_);
    flush_ = flushing / most_flushes_;
    const double seconds = undisturbed * measured.flushing / most_flushes_;
    between_flushes_ = seconds_to_next_flush(seconds) * recorded;
  }
  apart_ = std::max<std::size_t>(1, std::size_t(std::lround(measured.windows_apart)));
}

std::vector<int> SpeedupModel::deal_to_ranks(int ranks) const {
  return dealt_to_ranks(components_, ranks);
}

std::size_t SpeedupModel::windows_between_meetings(int ranks) const {
  return ranks > 1 && static_cast<std::size_t>(ranks) <= gpus_of(components_) ? apart_ : 1;
}

double SpeedupModel::flushing_nanoseconds(double others) const {
  if (flush_ <= 0) return 0;
  const double by_clock = std::floor(others / between_flushes_);
  return flush_ * std::clamp(by_clock, least_flushes_, most_flushes_);
}

double SpeedupModel::stretch_nanoseconds(Stretch windows, const std::vector<int>& home, int ranks,
                                         int threads, Losses& losses) const {
  struct OfRank {
    double busiest = 0, synchronising = 0;
    bool is_one_component = true;  ///< in each window a single one takes as long as all of it
    bool shares_all = true;        ///< several threads take part in each window
    double all() const { return busiest + synchronising; }
  };
  const auto count = static_cast<std::size_t>(ranks);
  std::vector<OfRank> of_ranks(count);
  std::vector<double> work_of_rank(count);
  double work = 0;
  for (const MeasuredWindow& window : windows) {
    const auto rank_of = [&](const WindowCostRow& cost) {
      return static_cast<std::size_t>(cost.component < home.size() ? home[cost.component] : 0);
    };
    std::fill(work_of_rank.begin(), work_of_rank.end(), 0.0);
    window.for_each(
        [&](const WindowCostRow& cost) { work_of_rank[rank_of(cost)] += cost.nanoseconds; });
    std::vector<Threads> loads;
    for (const double own : work_of_rank)
      loads.emplace_back(own > least_shared_nanoseconds ? threads : 1);
    window.for_each([&](const WindowCostRow& cost) { loads[rank_of(cost)].add(cost.nanoseconds); });
    for (std::size_t rank = 0; rank < count; ++rank) {
      OfRank& of_rank = of_ranks[rank];
      const bool is_shared = work_of_rank[rank] > least_shared_nanoseconds;
      of_rank.busiest += loads[rank].busiest();
      if (is_shared) of_rank.synchronising += synchronisation_nanoseconds(threads);
      of_rank.is_one_component &= loads[rank].is_one_component();
      of_rank.shares_all &= is_shared;
    }
    work += window.nanoseconds;
  }
  const OfRank slowest =
      *std::max_element(of_ranks.begin(), of_ranks.end(),
                        [](const OfRank& a, const OfRank& b) { return a.all() < b.all(); });
  const std::uint32_t longest = windows.front().longest().component;
  std::string cause = "uneven shares of ranks and threads";
  if (slowest.is_one_component && longest < components_.size())
    cause = "one " + kind_of_component(components_[longest].component) + " at a time";
  if (!slowest.shares_all && threads > 1) cause = "windows with too little work to share";
  const double weight = windows.front().weight;
  losses.nanoseconds[cause] += weight * (slowest.busiest - work / (ranks * threads));
  losses.nanoseconds["synchronisation of threads"] += weight * slowest.synchronising;
  const bool on_several_cores = ranks > 1 || (slowest.shares_all && threads > 1);
  return slowest.busiest / (on_several_cores ? cache_gain : 1) + slowest.synchronising;
}

Prediction SpeedupModel::predict(int ranks, int threads) const {
  const std::vector<int> home = deal_to_ranks(ranks);
  const std::size_t most = windows_between_meetings(ranks);
  const double exchange = exchange_nanoseconds(ranks);
  Losses losses;
  const double recording = collecting_ + sampling_ / (ranks * threads);
  double parallel = recording;
  for (std::size_t first = 0; first < windows_.size();) {
    std::size_t end = first + 1;
    while (end < windows_.size() && end - first < most &&
           windows_[end].weight == windows_[first].weight)
      ++end;
    const Stretch stretch(&windows_[first], end - first);
    const double weight = windows_[first].weight;
    parallel += weight * (stretch_nanoseconds(stretch, home, ranks, threads, losses) + exchange);
    losses.nanoseconds["exchange between ranks"] += weight * exchange;
    first = end;
  }
  const double flushing = flushing_nanoseconds(parallel);
  losses.nanoseconds["recording epochs"] = recording + flushing;
  const double alone = in_windows_ + collecting_ + sampling_;
  Prediction result{ranks, threads, 1, losses.largest()};
  if (parallel > 0) result.speedup = (alone + flushing_nanoseconds(alone)) / (parallel + flushing);
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
