#include "jobs/sweep/sweep_file.hpp"

#include <filesystem>
#include <set>

#include "core/parameters/document.hpp"

namespace lockstep {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Returns the entries of a list, or the one value.
std::vector<Node> values_of(const Node& node) {
  return node.is_sequence() ? node.items() : std::vector<Node>{node};
}

/// Combines each of `points` with each of `choices`.
void multiply(std::vector<Parameters>& points, const std::vector<Parameters>& choices) {
  std::vector<Parameters> product;
  for (const Parameters& point : points) {
    for (const Parameters& choice : choices) {
      product.push_back(point);
      product.back().insert(product.back().end(), choice.begin(), choice.end());
    }
  }
  points = std::move(product);
}

std::vector<Parameters> read_combinations(const Node& root) {
  std::vector<Parameters> points{{}};
  if (const Node grid = root.find("grid"); grid.exists()) {
    for (const auto& [key, values] : grid.entries()) {
      std::vector<Parameters> choices;
      for (const Node& value : values_of(values)) choices.push_back({{key, value.to_flow()}});
      multiply(points, choices);
    }
  }
  if (const Node list = root.find("list"); list.exists()) {
    std::vector<Parameters> choices;
    for (const Node& entry : list.items()) {
      choices.emplace_back();
      for (const auto& [key, value] : entry.entries())
        choices.back().emplace_back(key, value.to_flow());
    }
    multiply(points, choices);
  }
  if (const Node seeds = root.find("seeds"); seeds.exists()) {
    std::vector<Parameters> choices;
    for (const Node& seed : seeds.items())
      choices.push_back({{"simulation.seed", std::to_string(seed.unsigned_integer())}});
    multiply(points, choices);
  }
  return points;
}

/// Returns a name such as "two_tenants-count=4-seed=1", with the last word of each key, in
/// characters allowed in file names.
std::string name_of(const std::string& scenario, const Parameters& parameters) {
  std::string name = std::filesystem::path(scenario).stem().string();
  for (const auto& [key, value] : parameters) {
    name += "-" + key.substr(key.rfind('.') + 1) + "=";
    for (const char c : value) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
      name += plain ? c : '_';
    }
  }
  return name;
}

}  // namespace

std::vector<std::string> SweepPoint::settings() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : parameters) all.push_back(key + "=" + value);
  return all;
}

Sweep read_sweep(const std::string& file) {
  const Node root = load_document(file);
  Sweep sweep;
  sweep.file = file;
  if (const Node command = root.find("command"); command.exists()) sweep.command = command.text();
  if (sweep.command != "run" && sweep.command != "compare")
    throw root.at("command").error("is neither run nor compare", "write one of them");
  const Node folder = root.find("output");
  sweep.folder = folder.exists() ? folder.text() : std::filesystem::path(file).stem().string();
  if (const Node arguments = root.find("arguments"); arguments.exists()) {
    for (const Node& argument : arguments.items()) sweep.arguments.push_back(argument.text());
  }
  const std::vector<Parameters> combinations = read_combinations(root);
  const Node scenarios = root.at("scenario");
  root.reject_unknown_keys();
  std::set<std::string> names;
  for (const Node& scenario : values_of(scenarios)) {
    const std::string path = resolve_file_name(scenario);
    for (const Parameters& parameters : combinations) {
      sweep.points.push_back({name_of(path, parameters), path, parameters});
      const std::string& name = sweep.points.back().name;
      if (!names.insert(name).second)
        throw scenario.error("two points would write " + name + ".h5", "give each its own values");
    }
  }
  if (sweep.points.empty())
    throw UserError(file, "has no points", "give scenario, grid, list and seeds one entry each");
  return sweep;
}

}  // namespace lockstep
