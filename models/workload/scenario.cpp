#include "models/workload/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/parameters/document.hpp"
#include "core/parameters/idle_keys.hpp"
#include "core/parameters/node_data.hpp"
#include "core/parameters/suggest.hpp"
#include "models/workload/arrivals.hpp"
#include "models/workload/scenario_keys.hpp"
#include "models/workload/several_gpus.hpp"
#include "models/workload/slices.hpp"
#include "models/workload/wrong_kind.hpp"

namespace lockstep {

namespace {

/// An SM keeps a warp's tenant in a byte.
constexpr std::size_t most_tenants = 256;

/// Refuses a time of 0 where the time says when something is late.
void refuse_nothing(Time span, const Node& node, const char* problem) {
  if (span <= Time::zero()) throw node.error(problem, "write more than 0us");
}

void read_arrivals_of(Tenant& tenant, std::uint64_t seed, std::uint32_t index) {
  const Node& arrivals = tenant.arrivals_node;
  tenant.arrivals = {tenant.arrival};
  if (!arrivals.exists()) return;
  if (tenant.relaunch)
    throw arrivals.error("arrivals and relaunch both say when the program starts again",
                         "leave one of them out");
  tenant.arrivals = read_arrivals(arrivals, tenant.arrival, seed, index);
  tenant.arrival = tenant.arrivals[0];
}

/// Replaces the value of `key` by the file that it names, if any.
void include(const Node& map, const char* key) {
  if (!map.is_map()) return;
  if (const Node value = map.find(key); value.is_scalar())
    refuse_other_format(value.text(), value.where());
  resolve_include_at(map, key);
  refuse_other_kind(map.find(key), key);
}

constexpr std::size_t most_gpus = 64;

/// Replaces a list with one GPU by `gpu:`, so that both forms are the same run.
void replace_list_of_one(const Node& root) {
  const Node only = root.find("gpus").item(0);
  std::vector<Node::Data::Entry>& entries = root.data()->map;
  for (Node::Data::Entry& entry : entries)
    if (entry.key == "gpus") entry = {"gpu", entry.key_position, only};
  set_paths(only, "gpu");
}

/// Puts the documents in the place of names in a list of GPUs.
void include_gpus(const Node& root) {
  if (!root.is_map()) return;
  const Node list = root.find("gpus");
  if (!list.is_sequence()) return;
  if (root.has("gpu"))
    throw list.error("lists GPUs, and gpu names one, too",
                     "leave gpu out, or write how many of it there are: gpus: 2");
  if (list.size() == 0) throw list.error("a machine has a GPU", "name one: gpus: [v100]");
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto data = std::make_shared<Node::Data>();
    data->kind = Node::Kind::map;
    data->position = list.data()->position;
    data->map.push_back({"gpu", list.data()->position, list.item(i)});
    const Node holder(std::move(data));
    include(holder, "gpu");
    Node& item = list.data()->sequence[i];
    item = holder.find("gpu");
    set_paths(item, "gpus." + std::to_string(i));
  }
  if (list.size() == 1) replace_list_of_one(root);
}

/// Returns the nodes of the GPUs, by number.
std::vector<Node> read_gpus(const Node& root) {
  const Node gpus = root.find("gpus");
  if (gpus.is_sequence()) {
    if (gpus.size() > most_gpus)
      throw gpus.error("a machine has at most " + std::to_string(most_gpus) + " GPUs",
                       "split the scenario into several");
    return gpus.items();
  }
  if (gpus.exists() && !root.has("gpu"))
    throw gpus.error("gives the number of GPUs, and no key says which GPU",
                     "add gpu: v100, or list them: gpus: [v100, v100]");
  const std::uint64_t count = gpus.exists() ? gpus.unsigned_integer() : 1;
  if (count < 1 || count > most_gpus)
    throw gpus.error("a machine has 1 to " + std::to_string(most_gpus) + " GPUs",
                     "write a number of them, or list them: gpus: [v100, a100]");
  return std::vector<Node>(count, root.at("gpu"));
}

/// A tenant runs on a GPU that is there.
void check_gpu(Tenant& tenant, const Node& node, const Scenario& scenario) {
  const Node at = node.find("gpu");
  const std::size_t there = scenario.gpus.size();
  if (!at.exists()) return check_several_gpus(tenant, there);
  if (tenant.gpus_node.exists())
    throw at.error("gpu and gpus both name GPUs of the tenant", "leave one of them out");
  check_several_gpus(tenant, there);
  if (there == 1)
    throw at.error("the scenario has one GPU, on which all tenants run",
                   "leave it out, or add gpus: 2");
  if (tenant.gpu >= there)
    throw at.error("there is no GPU " + std::to_string(tenant.gpu) + ": the machine has " +
                       std::to_string(there) + ", numbered from 0",
                   "choose 0 to " + std::to_string(there - 1) + ", or raise gpus");
}

void refuse_recording(const Node& workload, const Node& at) {
  const Node program = workload.at("program");
  if (program.is_map())
    throw at.error("the buffers of a recording are those that its program asked for",
                   "change the program, and record it again");
}

/// Checks that the buffer or parameter that a key names exists: a new one would have no use.
void require_part(const Node& workload, const std::string& key, const Node& at) {
  const std::size_t first = key.find('.');
  const std::string kind = key.substr(0, first);
  if ((kind != "buffers" && kind != "parameters") || first == std::string::npos) return;
  const std::string name = key.substr(first + 1, key.find('.', first + 1) - first - 1);
  std::vector<std::string> known;
  if (const Node all = workload.find(kind); all.exists())
    for (const auto& [other, value] : all.entries()) known.push_back(other);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw at.error("the workload has no " + kind.substr(0, kind.size() - 1) + " \"" + name + "\"",
                   known.empty() ? "it has none" : suggest(name, known));
}

/// Moves device memory of the workload to the kind that `memory` names.
void move_buffer(const Node& workload, const std::string& name, const Node& memory) {
  const Node buffer = workload.at("buffers").at(name);
  const bool was_device = buffer.at("memory").text() == "device";
  if (was_device && memory.text() != "device")
    override_value(workload, "buffers." + name + ".copied",
                   parse_document("false", memory.where()));
  override_value(workload, "buffers." + name + ".memory", memory);
}

/// Applies `memory: managed` of a tenant to all buffers that are device memory.
void move_buffers(const Node& workload, const Node& memory) {
  if (memory.text() != "managed" && memory.text() != "pinned")
    throw memory.error("no memory is called \"" + memory.text() + "\" here", "managed or pinned");
  refuse_recording(workload, memory);
  for (const auto& [name, buffer] : workload.at("buffers").entries())
    if (buffer.at("memory").text() == "device" && !buffer.has("symbol"))
      move_buffer(workload, name, memory);
}

/// Applies `set:` of a tenant: dotted keys of its workload.
void change_workload(const Node& workload, const Node& changes) {
  const std::string buffers = "buffers.", memory = ".memory";
  for (const auto& [key, value] : changes.entries()) {
    const bool moves = key.starts_with(buffers) && key.ends_with(memory) &&
                       key.size() > buffers.size() + memory.size();
    const std::string name =
        moves ? key.substr(buffers.size(), key.size() - buffers.size() - memory.size()) : "";
    if (moves && workload.at("buffers").has(name)) {
      refuse_recording(workload, value);
      move_buffer(workload, name, value);
    } else {
      require_part(workload, key, value);
      override_value(workload, key, value);
    }
  }
}

void read_gpu(Tenant& tenant, const Node& node) {
  include(node, "workload");
  const Node workload = node.at("workload");
  if (!workload.is_map())
    throw workload.error("needs a workload file or a map", "write workload: NAME.yaml");
  if (tenant.memory_node.exists()) move_buffers(workload, tenant.memory_node);
  if (tenant.set_node.exists()) change_workload(workload, tenant.set_node);
  tenant.workload = read_workload(workload, tenant.parameters_node);
}

/// Checks that a tenant on a CPU core has a measured end, since its program has none.
void check_end(const Tenant& tenant, const Node& node, const SimulationParameters& simulation) {
  const CpuProgram& program = *tenant.cpu;
  if (!program.profile.empty() && tenant.instructions == 0 && simulation.stop_at == Time::zero())
    throw node.error("tenant " + tenant.name + " has a profile, which never ends",
                     "give it instructions: N, or the scenario simulation: {stop_at: TIME}");
  if (program.trace && !tenant.relaunch && tenant.instructions > program.trace_instructions)
    throw node.at("instructions")
        .error("the trace " + program.trace_file + " ends after " +
                   std::to_string(program.trace_instructions) + " instructions",
               "write at most that, or relaunch: true");
}

void read_cpu(Tenant& tenant, const Node& node, const SimulationParameters& simulation) {
  const TenantKeys& keys = tenant;
  for (const IdleKey& key : idle_keys(schema_of<TenantKeys>(), &keys, node))
    throw key.node.error("has no effect for a tenant on a CPU core", "leave it or cpu: out");
  tenant.cpu = read_cpu_program(tenant.cpu_node);
  check_end(tenant, node, simulation);
}

Tenant read_tenant(const Node& node, const SimulationParameters& simulation, std::uint32_t index) {
  Tenant tenant;
  tenant.where = node.where();
  schema_of<TenantKeys>().read(node, static_cast<TenantKeys*>(&tenant));
  require_name(tenant.name, node.at("name"));
  refuse_nothing(tenant.latency_bound, node.find("latency_bound"), "leaves no time to free an SM");
  refuse_nothing(tenant.deadline, node.find("deadline"), "lies before the arrival");
  read_arrivals_of(tenant, simulation.seed, index);
  if (tenant.cpu_node.exists()) {
    read_cpu(tenant, node, simulation);
  } else {
    read_gpu(tenant, node);
  }
  return tenant;
}

/// Separates the settings that replace the whole machine or its host from the others.
std::pair<std::vector<std::string>, std::vector<std::string>> split_settings(
    const std::vector<std::string>& settings) {
  std::pair<std::vector<std::string>, std::vector<std::string>> split;
  for (const std::string& setting : settings) {
    const bool is_file = setting.starts_with("gpu=") || setting.starts_with("gpus=") ||
                         setting.starts_with("host=") || setting.starts_with("fabric=");
    (is_file ? split.first : split.second).push_back(setting);
  }
  return split;
}

}  // namespace

Node load_scenario(const std::string& file, const std::vector<std::string>& settings) {
  refuse_other_format(file, file);
  Node root = load_document(file);
  const auto include_machine = [&] {
    include(root, "gpu");
    include_gpus(root);
    include(root, "host");
    if (root.is_map() && root.has("fabric")) include(root, "fabric");
  };
  // `--set gpu=a100` names another file; the other settings change values in it.
  const auto [files, others] = split_settings(settings);
  apply_settings(root, files);
  include_machine();
  if (const Node overrides = root.find("override"); overrides.exists()) {
    apply_overrides(root, overrides);
  }
  apply_settings(root, others);
  include_machine();  // another machine was set
  return root;
}

Scenario read_scenario(const std::string& file, const std::vector<std::string>& settings) {
  return read_scenario(load_scenario(file, settings), std::filesystem::path(file).stem().string());
}

Scenario read_scenario(const Node& root, const std::string& name) {
  refuse_other_kind(root, "scenario");
  Scenario scenario;
  scenario.name = name;
  scenario.document = root;
  const auto keys = read_parameters<ScenarioKeys>(root);
  scenario.gpus = read_gpus(root);
  scenario.gpu = scenario.gpus.front();
  scenario.host = root.at("host");
  scenario.fabric = keys.fabric;
  scenario.policies = keys.policies;
  scenario.simulation = keys.simulation.exists()
                            ? read_parameters<SimulationParameters>(keys.simulation)
                            : defaults<SimulationParameters>();
  std::set<std::string> names;
  for (const Node& node : root.at("tenants").items()) {
    scenario.tenants.push_back(read_tenant(node, scenario.simulation,
                                           static_cast<std::uint32_t>(scenario.tenants.size())));
    check_gpu(scenario.tenants.back(), node, scenario);
    if (!names.insert(scenario.tenants.back().name).second) {
      throw node.at("name").error("there are two tenants with this name", "give each its own");
    }
  }
  if (scenario.tenants.empty())
    throw root.at("tenants").error("a scenario needs a tenant",
                                   "add - {name: one, workload: NAME.yaml}");
  if (scenario.tenants.size() > most_tenants) {
    throw root.at("tenants").error(
        "a scenario has at most " + std::to_string(most_tenants) + " tenants",
        "split it into several");
  }
  divide_gpus(scenario);
  return scenario;
}

Scenario part_of(const Scenario& scenario, std::uint32_t gpu,
                 const std::vector<std::uint32_t>& tenants) {
  Scenario part{scenario.name,        scenario.document,
                scenario.gpus[gpu],   scenario.host,
                scenario.policies,    Node(),
                {scenario.gpus[gpu]}, 1,
                scenario.simulation,  {}};
  for (const std::uint32_t number : tenants) {
    Tenant& tenant = part.tenants.emplace_back(scenario.tenants[number]);
    const auto member = std::find(tenant.gpus.begin(), tenant.gpus.end(), gpu);
    if (member != tenant.gpus.end())
      tenant.member = static_cast<std::uint32_t>(member - tenant.gpus.begin());
  }
  return part;
}

}  // namespace lockstep
