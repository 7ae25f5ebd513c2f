#include "jobs/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

namespace lockstep {

namespace {

/// What one synchronisation costs: measured 2.5 us at two threads; the tree grows with its depth.
double synchronisation_nanoseconds(int workers) {
  double cost = 1500;
  for (int w = 1; w < workers; w *= 2) cost += 1000;
  return cost;
}

/// The load of the busiest of `workers` after longest-first dealing; `costs` is sorted.
double makespan(const std::vector<std::uint32_t>& costs, int workers) {
  std::priority_queue<double, std::vector<double>, std::greater<>> loads;
  for (int w = 0; w < workers; ++w) loads.push(0);
  double longest = 0;
  for (const std::uint32_t cost : costs) {
    const double load = loads.top() + cost;
    loads.pop();
    loads.push(load);
    longest = std::max(longest, load);
  }
  return longest;
}

}  // namespace

std::vector<SpeedupPrediction> predict_speedup(const Profile& profile) {
  constexpr int largest = 1024;
  std::vector<SpeedupPrediction> predictions;
  for (int workers = 2; workers <= largest; workers *= 2) predictions.push_back({workers, 0});
  double serial = 0;
  std::vector<double> parallel(predictions.size());
  std::vector<std::uint32_t> costs;
  const auto& entries = profile.windows;
  for (std::size_t i = 0; i < entries.size();) {
    costs.clear();
    const std::uint32_t window = entries[i].window;
    for (; i < entries.size() && entries[i].window == window; ++i) {
      costs.push_back(entries[i].nanoseconds);
      serial += entries[i].nanoseconds;
    }
    std::sort(costs.begin(), costs.end(), std::greater<>());
    for (std::size_t p = 0; p < predictions.size(); ++p) {
      const int workers = predictions[p].workers;
      parallel[p] += makespan(costs, workers) + synchronisation_nanoseconds(workers);
    }
  }
  for (std::size_t p = 0; p < predictions.size(); ++p) {
    predictions[p].speedup = parallel[p] > 0 ? serial / parallel[p] : 1;
  }
  return predictions;
}

std::string profile_report(const Graph& graph, const Profile& profile) {
  constexpr std::size_t shown = 8;
  std::vector<std::size_t> order(profile.component_nanoseconds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return profile.component_nanoseconds[a] > profile.component_nanoseconds[b];
  });
  std::string text = "most expensive components of this rank:\n";
  for (std::size_t i = 0; i < std::min(shown, order.size()); ++i) {
    text += fmt::format("  {:<16}{:>10.3f} ms\n",
                        graph.name(ComponentId{static_cast<std::uint32_t>(order[i])}),
                        static_cast<double>(profile.component_nanoseconds[order[i]]) * 1e-6);
  }
  text += "predicted speed-up:";
  for (const SpeedupPrediction& p : predict_speedup(profile)) {
    text += fmt::format(" {}: {:.1f}", p.workers, p.speedup);
  }
  return text + "\n";
}

void write_profile(RunOutput& file, const Graph& graph, const Profile& profile) {
  for (std::size_t i = 0; i < profile.component_nanoseconds.size(); ++i) {
    const std::string name = graph.name(ComponentId{static_cast<std::uint32_t>(i)});
    file.set_run("profile_nanoseconds_" + name, profile.component_nanoseconds[i]);
  }
  for (const SpeedupPrediction& p : predict_speedup(profile)) {
    file.set_run("profile_speedup_" + std::to_string(p.workers), p.speedup);
  }
}

}  // namespace lockstep
