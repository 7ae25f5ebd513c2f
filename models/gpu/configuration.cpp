#include "models/gpu/configuration.hpp"

#include <fmt/format.h>

#include <filesystem>

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

std::string core_text(const Tenant& tenant) {
  const CpuProgram& cpu = *tenant.cpu;
  std::string text = fmt::format(
      "  - name: {}\n    arrival: {}fs\n    relaunch: {}\n    instructions: {}\n    cpu: {{memory: "
      "{}B, ",
      tenant.name, tenant.arrival.femtoseconds(), tenant.relaunch, tenant.instructions,
      cpu.memory_bytes);
  if (cpu.trace)
    return text +
           fmt::format("trace: {}}}\n", std::filesystem::path(cpu.trace_file).filename().string());
  const CpuTraffic& traffic = cpu.traffic;
  return text + fmt::format(
                    "profile: {}, misses: {}, row_locality: {}, bank_parallelism: {}, "
                    "write_share: {}}}\n",
                    cpu.profile, traffic.misses, traffic.row_locality, traffic.bank_parallelism,
                    traffic.write_share);
}

std::string tenant_text(const Tenant& tenant) {
  if (tenant.cpu) return core_text(tenant);
  const Workload& workload = tenant.workload;
  std::string text = fmt::format(
      "  - name: {}\n    workload: {}\n    arrival: {}fs\n    priority: {}\n    sms: {}\n"
      "    relaunch: {}\n    instructions: {}\n",
      tenant.name, std::filesystem::path(workload.file).filename().string(),
      tenant.arrival.femtoseconds(), tenant.priority, tenant.sms, tenant.relaunch,
      tenant.instructions);
  for (const auto& [key, span] :
       {std::pair{"latency_bound", tenant.latency_bound}, {"deadline", tenant.deadline}})
    if (span != Time::never()) text += fmt::format("    {}: {}fs\n", key, span.femtoseconds());
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
    text += fmt::format("      {}: {{type: {}, count: {}, memory: {}}}\n", buffer.name,
                        element_type_name(buffer.type), buffer.count, name_of(buffer.memory));
  }
  return text;
}

}  // namespace

std::string configuration_text(const Scenario& scenario, const MachineParameters& machine) {
  std::string text = to_yaml(machine) + "tenants:\n";
  for (const Tenant& tenant : scenario.tenants) text += tenant_text(tenant);
  return text;
}

}  // namespace lockstep
