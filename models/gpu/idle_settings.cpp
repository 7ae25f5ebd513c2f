#include "models/gpu/idle_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/parameters/document.hpp"
#include "core/parameters/idle_keys.hpp"

namespace lockstep {
namespace {

/// Adds where the keys of a file stand that do nothing in the file by itself.
template <class Parameters>
void append_own(const Node& included, std::set<std::string>& places) {
  if (!std::filesystem::exists(included.file())) return;  // the run was written down elsewhere
  try {
    const Node file = load_document(included.file(), included.path());
    const auto values = read_parameters<Parameters>(file);
    for (const IdleKey& key : idle_keys(schema_of<Parameters>(), &values, file))
      places.insert(key.node.where());
  } catch (const UserError&) {
    // The file is complete only with what the scenario adds.
  }
}

}  // namespace

std::vector<std::string> notes_of_idle_settings(const Scenario& scenario) {
  const Node& root = scenario.document;
  MachineParameters values = defaults<MachineParameters>();
  values.gpu = read_parameters<GpuParameters>(scenario.gpu);
  values.host = read_parameters<HostParameters>(scenario.host);
  if (scenario.policies.exists())
    values.policies = read_parameters<PolicyParameters>(scenario.policies);
  values.simulation = scenario.simulation;

  const auto is_included = [&](const Node& node) {
    return node.file() != root.file() && !node.file().empty();
  };
  std::set<std::string> own;
  if (is_included(scenario.gpu)) append_own<GpuParameters>(scenario.gpu, own);
  if (is_included(scenario.host)) append_own<HostParameters>(scenario.host, own);
  std::vector<std::string> notes;
  for (const IdleKey& key : idle_keys(schema_of<MachineParameters>(), &values, root)) {
    if (is_included(key.node) && !own.contains(key.node.where())) continue;
    const std::string text = key.text();
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  }
  return notes;
}

}  // namespace lockstep
