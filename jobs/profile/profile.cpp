#include "jobs/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "jobs/profile/largest_costs.hpp"
#include "jobs/profile/speedup.hpp"

namespace lockstep {
namespace {

/// Gathers the contributions of all ranks on rank 0; collective.
template <class T>
std::vector<std::vector<T>> gather(Communicator& communicator, std::span<const T> own) {
  const auto bytes = std::as_bytes(own);
  std::vector<std::vector<T>> all;
  for (const Communicator::Bytes& theirs :
       communicator.gather(Communicator::Bytes(bytes.begin(), bytes.end()))) {
    std::vector<T>& values = all.emplace_back(theirs.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), theirs.data(), theirs.size());
  }
  return all;
}

/// Returns a row for each component; ranks that do not own it contribute nothing.
std::vector<ComponentCostRow> component_rows(
    const Graph& graph, const std::vector<std::vector<std::uint64_t>>& nanoseconds) {
  std::vector<ComponentCostRow> rows(graph.nodes().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].component = graph.name(ComponentId{static_cast<std::uint32_t>(i)});
    for (const std::vector<std::uint64_t>& of_rank : nanoseconds)
      rows[i].nanoseconds = std::max(rows[i].nanoseconds, of_rank.at(i));
  }
  return rows;
}

std::vector<WindowCostRow> window_rows(const Profile& profile) {
  std::vector<WindowCostRow> rows;
  rows.reserve(profile.costs.size());
  for (const WindowCost& cost : profile.costs)
    rows.push_back({cost.window, cost.component, cost.nanoseconds, cost.windows});
  return rows;
}

std::vector<WindowTimesRow> times_rows(const std::vector<std::vector<WindowTimes>>& times) {
  std::vector<WindowTimesRow> rows;
  for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
    for (const WindowTimes& t : times[rank])
      rows.push_back({rank, t.window, t.working, t.synchronising, t.exchanging, t.waiting});
  }
  return rows;
}

RankRow row_of(const Profile& profile, const RunSummary& summary, const FlushTimes& flushes) {
  RankRow row;
  row.flushing = flushes.seconds;
  row.flushes = static_cast<std::uint32_t>(flushes.count);
  row.full_flushes = flushes.full;
  row.wall = summary.wall_seconds;
  row.working = profile.working_seconds;
  row.exchanging = profile.exchanging_seconds;
  row.synchronising = std::max(0.0, summary.synchronisation_share * row.wall - row.exchanging);
  row.waiting = summary.imbalance_share * row.wall;
  row.sampling = profile.sampling_seconds;
  row.windows_apart = profile.windows_apart;
  row.other =
      std::max(0.0, row.wall - row.working - row.synchronising - row.exchanging - row.waiting);
  return row;
}

}  // namespace

RunProfile gather_profile(const Engine& engine, const Graph& graph, const RunSummary& summary,
                          const FlushTimes& flushes) {
  const Profile& own = engine.profile();
  Communicator& communicator = engine.communicator();
  const RankRow own_row = row_of(own, summary, flushes);
  RunProfile all;
  for (const std::vector<RankRow>& row : gather(communicator, std::span(&own_row, 1))) {
    all.ranks.push_back(row.at(0));
    all.ranks.back().rank = static_cast<std::uint32_t>(all.ranks.size() - 1);
  }
  const auto costs = gather(communicator, std::span(own.component_nanoseconds));
  const auto times = gather(communicator, std::span(own.times));
  if (all.ranks.empty()) return all;  // other ranks have no rows
  all.components = component_rows(graph, costs);
  all.windows = window_rows(own);
  all.times = times_rows(times);
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
  file.write_table(profile.times);
  file.write_table(profile.ranks, TableColumns::all);
  file.write_table(profile.speedups);
}

}  // namespace lockstep
