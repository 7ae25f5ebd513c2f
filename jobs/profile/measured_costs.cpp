#include "jobs/profile/measured_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "jobs/sweep/point_state.hpp"

namespace lockstep {
namespace {

using WindowStep = std::pair<std::uint32_t, std::uint32_t>;  ///< window and component

template <class Row>
std::vector<Row> read_profile(const h5::File& file) {
  if (!file.has(table_schema_of<Row>().path)) {
    throw UserError(file.path(), "holds no profile",
                    "record one with `lockstep run SCENARIO --profile`");
  }
  return read_table<Row>(file);
}

/// Returns the smaller costs of the steps that both runs recorded.
std::map<WindowStep, WindowCostRow> least_of(const std::map<WindowStep, WindowCostRow>& before,
                                             const std::vector<WindowCostRow>& rows) {
  std::map<WindowStep, WindowCostRow> both;
  for (const WindowCostRow& row : rows) {
    const auto found = before.find({row.window, row.component});
    if (found == before.end()) continue;
    both[found->first] = row.nanoseconds < found->second.nanoseconds ? row : found->second;
  }
  return both;
}

}  // namespace

MeasuredCosts MeasuredCosts::read(const std::string& name) {
  const h5::File file = h5::File::open_to_read(name);
  MeasuredCosts costs{read_profile<ComponentCostRow>(file), {}, read_profile<RankRow>(file)};
  if (costs.ranks.size() != 1) {
    throw UserError(name, fmt::format("was recorded on {} ranks", costs.ranks.size()),
                    "record a profile on one, which sees all components");
  }
  costs.windows = read_profile<WindowCostRow>(file);
  const auto is_there = [&](const WindowCostRow& row) {
    return row.component < costs.components.size();
  };
  if (costs.components.empty() || !std::ranges::all_of(costs.windows, is_there))
    file.refuse("/run/profile", "names a component that is not there");
  return costs;
}

std::vector<MeasuredCosts> read_costs(const std::vector<std::string>& files) {
  std::vector<MeasuredCosts> runs;
  const auto digest = [](const std::string& file) {
    return text_attribute(file, "/run", "scenario_digest");
  };
  for (const std::string& file : files) {
    runs.push_back(MeasuredCosts::read(file));
    if (digest(file) != digest(files.front()) ||
        runs.back().components.size() != runs.front().components.size())
      throw UserError(file, "is a run of another scenario, or program, than " + files.front(),
                      "name profiles of the same");
  }
  return runs;
}

MeasuredCosts least_of(const std::vector<MeasuredCosts>& runs) {
  if (runs.size() == 1) return runs.front();
  MeasuredCosts least = runs.front();
  std::map<WindowStep, WindowCostRow> steps;
  for (const WindowCostRow& row : least.windows) steps[{row.window, row.component}] = row;
  for (std::size_t r = 1; r < runs.size(); ++r) {
    steps = least_of(steps, runs[r].windows);
    for (std::size_t i = 0; i < least.components.size(); ++i)
      least.components[i].nanoseconds =
          std::min(least.components[i].nanoseconds, runs[r].components.at(i).nanoseconds);
    RankRow& rank = least.ranks.front();
    const RankRow& other = runs[r].ranks.front();
    for (double RankRow::*time : {&RankRow::wall, &RankRow::working, &RankRow::other,
                                  &RankRow::sampling, &RankRow::flushing})
      rank.*time = std::min(rank.*time, other.*time);
    rank.flushes = std::min(rank.flushes, other.flushes);
  }
  least.windows.clear();
  for (const auto& [step, row] : steps) least.windows.push_back(row);
  return least;
}

std::vector<std::vector<WindowCostRow>> parts_of(const std::vector<WindowCostRow>& windows,
                                                 std::size_t parts) {
  std::set<std::uint32_t> numbers;
  for (const WindowCostRow& row : windows) numbers.insert(row.window);
  parts = std::min(parts, numbers.size());
  std::map<std::uint32_t, std::size_t> part_of;
  for (const std::uint32_t number : numbers) part_of.emplace(number, part_of.size() % parts);
  std::vector<std::vector<WindowCostRow>> dealt(parts);
  for (const WindowCostRow& row : windows) dealt[part_of.at(row.window)].push_back(row);
  return dealt;
}

}  // namespace lockstep
