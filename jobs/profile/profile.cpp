#include "jobs/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "jobs/profile/largest_costs.hpp"
#include "jobs/profile/speedup.hpp"

namespace lockstep {
namespace {

std::vector<ComponentCostRow> component_rows(const Graph& graph,
                                             const std::vector<std::uint64_t>& nanoseconds) {
  std::vector<ComponentCostRow> rows;
  for (std::size_t i = 0; i < nanoseconds.size(); ++i)
    rows.push_back({graph.name(ComponentId{static_cast<std::uint32_t>(i)}), nanoseconds[i]});
  return rows;
}

std::vector<WindowCostRow> window_rows(const Profile& profile) {
  std::vector<WindowCostRow> rows;
  rows.reserve(profile.windows.size());
  for (const WindowCost& cost : profile.windows)
    rows.push_back({cost.window, cost.component, cost.nanoseconds});
  return rows;
}

/// A rank's contribution: its row, then what its components cost.
struct Contribution {
  double wall, synchronising, waiting, working;
};

RankRow row_of(std::size_t rank, const Contribution& from) {
  RankRow row{static_cast<std::uint32_t>(rank), from.wall, from.working, from.synchronising,
              from.waiting};
  row.other = std::max(0.0, row.wall - row.working - row.synchronising - row.waiting);
  return row;
}

}  // namespace

RunProfile gather_profile(const Engine& engine, const Graph& graph, const RunSummary& summary,
                          int threads) {
  std::vector<std::uint64_t> costs = engine.profile().component_nanoseconds;
  const double worked =
      static_cast<double>(std::accumulate(costs.begin(), costs.end(), std::uint64_t{0})) * 1e-9;
  const double wall = summary.wall_seconds;
  const Contribution own{wall, summary.synchronisation_share * wall, summary.imbalance_share * wall,
                         worked / threads};
  Communicator::Bytes bytes(sizeof own + costs.size() * sizeof costs[0]);
  std::memcpy(bytes.data(), &own, sizeof own);
  if (!costs.empty()) {
    std::memcpy(bytes.data() + sizeof own, costs.data(), costs.size() * sizeof costs[0]);
  }
  RunProfile all;
  for (const Communicator::Bytes& contribution : engine.communicator().gather(bytes)) {
    Contribution theirs{};
    std::memcpy(&theirs, contribution.data(), sizeof theirs);
    all.ranks.push_back(row_of(all.ranks.size(), theirs));
    // Each component has one owner; the others contribute nothing.
    for (std::size_t i = 0; i < costs.size(); ++i) {
      std::uint64_t cost = 0;
      std::memcpy(&cost, contribution.data() + sizeof theirs + i * sizeof cost, sizeof cost);
      costs[i] = std::max(costs[i], cost);
    }
  }
  if (all.ranks.empty()) return all;  // not on rank 0
  all.components = component_rows(graph, costs);
  all.windows = window_rows(engine.profile());
  all.speedups = predicted_speedups(all.components, all.windows, all.ranks);
  return all;
}

std::string profile_report(const RunProfile& profile) {
  std::string text = largest_costs_text(profile.components, profile.ranks) + "predicted speed-up:";
  for (const SpeedupRow& row : profile.speedups)
    text += fmt::format(" {}: {:.1f}", row.workers, row.speedup);
  return text + "\n";
}

void write_profile(RunOutput& file, const RunProfile& profile) {
  file.write_table(profile.components);
  file.write_table(profile.windows);
  file.write_table(profile.ranks);
  file.write_table(profile.speedups);
}

}  // namespace lockstep
