#include "jobs/run/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <queue>

#include "jobs/tables.hpp"

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
  std::string text = "most expensive components:\n";
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

Profile gather_profile(const Profile& mine, Communicator& communicator) {
  const auto& costs = mine.component_nanoseconds;
  std::vector<std::byte> bytes(costs.size() * sizeof costs[0]);
  if (!bytes.empty()) std::memcpy(bytes.data(), costs.data(), bytes.size());
  Profile all = mine;
  for (const std::vector<std::byte>& contribution : communicator.gather(bytes)) {
    std::vector<std::uint64_t> theirs(costs.size());
    if (!theirs.empty()) std::memcpy(theirs.data(), contribution.data(), bytes.size());
    // Each component has one owner; the others contribute nothing.
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      all.component_nanoseconds[i] = std::max(all.component_nanoseconds[i], theirs[i]);
    }
  }
  return all;
}

void write_profile(RunOutput& file, const Graph& graph, const Profile& profile) {
  std::vector<ComponentCostRow> components;
  for (std::size_t i = 0; i < profile.component_nanoseconds.size(); ++i) {
    components.push_back(
        {graph.name(ComponentId{static_cast<std::uint32_t>(i)}), profile.component_nanoseconds[i]});
  }
  std::vector<WindowCostRow> windows;
  windows.reserve(profile.windows.size());
  for (const WindowCost& cost : profile.windows) {
    windows.push_back({cost.window, cost.component, cost.nanoseconds});
  }
  std::vector<SpeedupRow> speedups;
  for (const SpeedupPrediction& p : predict_speedup(profile)) {
    speedups.push_back({static_cast<std::uint32_t>(p.workers), p.speedup});
  }
  file.write_table(components);
  file.write_table(windows);
  file.write_table(speedups);
}

}  // namespace lockstep
