#include "models/gpu/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/parameters/access.hpp"

namespace lockstep {

namespace {

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device";
    case MemoryKind::managed:
      return "managed";
    case MemoryKind::pinned:
      return "pinned";
  }
  return "?";
}

std::string arrivals_text(const Tenant& tenant) {
  std::string text = "    arrivals: {at: [";
  for (const Time arrival : tenant.arrivals)
    text += fmt::format("{}{}fs", text.back() == '[' ? "" : ", ", arrival.femtoseconds());
  return text + "]}\n";
}

/// Returns whether the key has an effect beside the others; a tenant on a CPU core has few keys.
bool has_meaning(const std::string& key, const ParameterSchema& schema, const void* values) {
  const auto is_idle = [&](const ParameterCondition& condition) {
    return !condition.holds(values) &&
           std::find(condition.keys.begin(), condition.keys.end(), key) != condition.keys.end();
  };
  return std::none_of(schema.conditions().begin(), schema.conditions().end(), is_idle);
}

/// Returns a value as text; times are in femtoseconds. "" for parts, and for a missing value
/// without a default.
std::string value_text(const ParameterField& field, const Tenant& tenant) {
  if (field.key == "workload")
    return std::filesystem::path(tenant.workload.file).filename().string();
  if (field.type == ParameterType::part || field.key == "gpu") return "";
  const std::vector<ParameterScalar> value = fetch(field, static_cast<const TenantKeys*>(&tenant));
  if (field.type == ParameterType::text) return std::get<std::string>(value.front());
  if (field.type != ParameterType::time) return to_text(field, value);
  const bool is_absent = !field.absent.empty() && value == field.initial;
  return is_absent ? "" : fmt::format("{}fs", std::get<std::int64_t>(value.front()));
}

/// Returns the values of the tenant's schema, a line each.
std::string keys_text(const Tenant& tenant) {
  std::string text;
  for (const ParameterField& field : schema_of<TenantKeys>().fields()) {
    if (!has_meaning(field.key, schema_of<TenantKeys>(), static_cast<const TenantKeys*>(&tenant)))
      continue;
    const std::string value = value_text(field, tenant);
    if (!value.empty())
      text += fmt::format("{}{}: {}\n", text.empty() ? "  - " : "    ", field.key, value);
  }
  return text;
}

/// Returns a value as text: numbers in bytes, files by their name only; "" for an absent value.
std::string value_text(const ParameterField& field, const CpuKeys& cpu) {
  if (field.key == "trace") return std::filesystem::path(cpu.trace_file).filename().string();
  const std::vector<ParameterScalar> value = fetch(field, &cpu);
  if (field.type == ParameterType::text) return std::get<std::string>(value.front());
  return field.type == ParameterType::bytes
             ? fmt::format("{}B", std::get<std::uint64_t>(value.front()))
             : to_text(field, value);
}

std::string core_text(const Tenant& tenant, const std::string& place) {
  const CpuKeys& cpu = *tenant.cpu;
  std::string text;
  for (const ParameterField& field : schema_of<CpuKeys>().fields()) {
    const std::string value = value_text(field, cpu);
    if (!value.empty() && has_meaning(field.key, schema_of<CpuKeys>(), &cpu))
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.key, value);
  }
  return keys_text(tenant) + place + "    cpu: {" + text + "}\n";
}

/// Returns the tenant as text.  `place`: the line with its GPU, if the machine has several.
std::string tenant_text(const Tenant& tenant, const std::string& place) {
  if (tenant.cpu) return core_text(tenant, place);
  const Workload& workload = tenant.workload;
  std::string text = keys_text(tenant) + place;
  if (tenant.arrivals.size() > 1) text += arrivals_text(tenant);
  if (workload.heap > 0) text += fmt::format("    heap: {}B\n", workload.heap);
  text += "    parameters: {";
  const char* separator = "";
  for (const auto& [name, value] : workload.parameters) {
    text += fmt::format("{}{}: {}", separator, name, value);
    separator = ", ";
  }
  text += "}\n    buffers:\n";
  for (const Buffer& buffer : workload.buffers) {
    text += fmt::format("      {}: {{type: {}, count: {}, memory: {}{}}}\n", buffer.name,
                        element_type_name(buffer.type), buffer.count, name_of(buffer.memory),
                        tenant.gpus.empty() ? "" : fmt::format(", gpu: {}", buffer.gpu));
  }
  return text;
}

/// Returns the text without a policy that a machine of one GPU does not use, so that its outputs
/// and checkpoints are equal to those written before there was such a key.
std::string without(std::string text, const std::string& policy) {
  const std::string key = "\n  " + policy + ":";
  const std::size_t begin = text.find(key);
  std::size_t end = text.find('\n', begin + 1);
  // Skips the policy's parameters.
  while (text.compare(end, 4, "\n   ") == 0) end = text.find('\n', end + 1);
  return text.erase(begin, end - begin);
}

}  // namespace

std::string machine_text(const MachineParameters& machine) {
  if (!machine.has_several_gpus())
    return without(without(to_yaml(machine), "placement"), "peer_policy");
  constexpr int inside = 4;
  std::string text = "gpus:\n";
  for (const GpuParameters& gpu : machine.gpus) {
    std::string entry = to_yaml(schema_of<GpuParameters>(), &gpu, inside);
    entry.replace(0, inside, "  - ");
    text += entry;
  }
  const std::string first = to_yaml(machine), host = "host:\n";
  if (machine.fabric) text += "fabric:\n" + to_yaml(machine.fabric->parameters(), 2);
  return text + first.substr(first.find("\n" + host) + 1);
}

std::string configuration_text(const Scenario& scenario, const MachineParameters& machine) {
  std::string text = machine_text(machine) + "tenants:\n";
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    std::string place =
        machine.has_several_gpus() ? fmt::format("    gpu: {}\n", machine.gpu_of(t)) : "";
    if (const auto& gpus = scenario.tenants[t].gpus; !gpus.empty())
      place += fmt::format("    gpus: [{}]\n", fmt::join(gpus, ", "));
    text += tenant_text(scenario.tenants[t], place);
  }
  return text;
}

}  // namespace lockstep
