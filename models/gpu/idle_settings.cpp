#include "models/gpu/idle_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/parameters/document.hpp"
#include "core/parameters/idle_keys.hpp"
#include "core/parameters/node_data.hpp"

namespace lockstep {
namespace {

/// Adds the places of keys in a file that have no effect in the file alone.
template <class Parameters>
void append_own(const Node& included, std::set<std::string>& places) {
  // The run was recorded on another computer, which has the file.
  if (!std::filesystem::exists(included.file())) return;
  try {
    const Node file = load_document(included.file(), included.path());
    const auto values = read_parameters<Parameters>(file);
    for (const IdleKey& key : idle_keys(schema_of<Parameters>(), &values, file))
      places.insert(key.node.where());
  } catch (const UserError&) {
    // The file is complete only with the values that the scenario adds.
  }
}

/// Returns the document as if one of its listed GPUs were the only one.
Node with_gpu(const Node& root, const Node& gpu) {
  auto data = std::make_shared<Node::Data>(*root.data());
  std::erase_if(data->map, [](const Node::Data::Entry& entry) { return entry.key == "gpus"; });
  data->map.push_back({"gpu", gpu.data()->position, gpu});
  return Node(std::move(data));
}

/// Returns the keys without effect for one GPU: its own keys, and those that it shares with others.
std::vector<IdleKey> idle_keys_of(const Scenario& scenario, const Node& gpu, const Node& root) {
  MachineParameters values = defaults<MachineParameters>();
  values.gpu = read_parameters<GpuParameters>(gpu);
  values.host = read_parameters<HostParameters>(scenario.host);
  if (scenario.policies.exists())
    values.policies = read_parameters<PolicyParameters>(scenario.policies);
  values.simulation = scenario.simulation;
  if (scenario.gpus.size() > 1) values.gpus.resize(scenario.gpus.size(), values.gpu);

  const auto is_included = [&](const Node& node) {
    return node.file() != scenario.document.file() && !node.file().empty();
  };
  std::set<std::string> own;
  if (is_included(gpu)) append_own<GpuParameters>(gpu, own);
  if (is_included(scenario.host)) append_own<HostParameters>(scenario.host, own);
  std::vector<IdleKey> keys = idle_keys(schema_of<MachineParameters>(), &values, root);
  std::erase_if(keys, [&](const IdleKey& key) {
    return is_included(key.node) && !own.contains(key.node.where());
  });
  return keys;
}

void append(const std::string& text, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
}

/// A setting that a list of GPUs shares counts as having no effect only if it has none for any of
/// them.
std::vector<std::string> notes_of_list(const Scenario& scenario) {
  std::vector<std::string> notes;
  std::map<std::string, std::size_t> shared;
  for (const Node& gpu : scenario.gpus) {
    for (const IdleKey& key : idle_keys_of(scenario, gpu, with_gpu(scenario.document, gpu))) {
      const bool is_own = key.node.path().starts_with("gpus.");
      if (is_own || ++shared[key.text()] == scenario.gpus.size()) append(key.text(), notes);
    }
  }
  return notes;
}

}  // namespace

std::vector<std::string> notes_of_idle_settings(const Scenario& scenario) {
  if (scenario.document.find("gpus").is_sequence()) return notes_of_list(scenario);
  std::vector<std::string> notes;
  for (const IdleKey& key : idle_keys_of(scenario, scenario.gpu, scenario.document))
    append(key.text(), notes);
  return notes;
}

}  // namespace lockstep
