#include "models/gpu/cpu_cores.hpp"

#include <algorithm>

#include "models/cpu/cpu_core.hpp"
#include "models/cpu/profile_stream.hpp"
#include "models/cpu/trace_stream.hpp"

namespace lockstep {
namespace {

/// Returns the times of a core's requests on an idle machine.
MemoryTimes memory_times(const GpuParameters& gpu) {
  const Clock dram(gpu.memory.dram.clock), l2(gpu.memory.clock);
  const auto nanoseconds = [](Time time) {
    return static_cast<double>(time.femtoseconds()) * 1e-6;
  };
  const DramParameters& p = gpu.memory.dram;
  const Cycles between = std::max(p.burst, p.ccd_l);
  return {nanoseconds(dram.duration(between)), nanoseconds(dram.duration(p.rc)),
          nanoseconds(gpu.cpu.link_latency + gpu.cpu.link_latency + l2.duration(p.path_latency) +
                      dram.duration(p.cl))};
}

}  // namespace

CpuCores::CpuCores(const Scenario& scenario, const MachineParameters& parameters,
                   const GpuBuilder& gpu, bool check)
    : scenario_(scenario), parameters_(parameters), gpu_(gpu), check_(check) {}

void CpuCores::lay_out(Graph& graph, ComponentId host, const std::string& prefix,
                       std::optional<std::uint32_t> group) {
  const std::size_t count = gpu_.core_places().count();
  if (count == 0) return;
  constexpr double weight = 0.2, memory_traffic = 0.5, rare_traffic = 0.001;
  const Time memory_link = parameters_.gpu.cpu.link_latency;
  const std::vector<ComponentId>& partitions = gpu_.layout().partitions;
  kind_ = graph.add_kind(prefix + "cpu");
  for (std::size_t i = 0; i < count; ++i)
    components_.push_back(graph.add_component(*kind_, weight, group));
  for (const ComponentId core : components_)
    for (const ComponentId partition : partitions)
      graph.connect(core, partition, memory_link, memory_traffic);
  for (const ComponentId partition : partitions)
    for (const ComponentId core : components_)
      graph.connect(partition, core, memory_link, memory_traffic);
  const Time host_link = parameters_.host.link_latency;
  for (const ComponentId core : components_) graph.connect(core, host, host_link, rare_traffic);
  for (const ComponentId core : components_) graph.connect(host, core, host_link, rare_traffic);
}

std::unique_ptr<Component> CpuCores::build(std::uint32_t index, const LinkTable& links,
                                           KindId host) const {
  const CorePlaces& places = gpu_.core_places();
  const Tenant& tenant = scenario_.tenants[places.tenant(index).value()];
  const CoreMemory memory(gpu_.mapping(), DramLayout(parameters_.gpu.memory.dram),
                          places.base(index), places.bytes(index));
  const ComponentId core = components_[index];
  CpuCore::Setup setup{.parameters = parameters_.gpu.cpu,
                       .index = index,
                       .tenant = places.tenant(index),
                       .memory = memory,
                       .stream = nullptr,
                       .arrival = tenant.arrival,
                       .measured = tenant.instructions,
                       .check = check_,
                       .to_host = links.to_one(core, host),
                       .to_partitions = links.to_all(core, gpu_.layout().partition_kind)};
  if (tenant.cpu->trace) {
    setup.stream = std::make_unique<TraceStream>(*tenant.cpu, tenant.relaunch);
    if (setup.measured == 0) setup.measured = tenant.cpu->trace_instructions;
  } else {
    setup.stream = std::make_unique<ProfileStream>(
        *tenant.cpu, parameters_.gpu.cpu.misses, parameters_.gpu.cpu.window,
        memory_times(parameters_.gpu), memory, Random(parameters_.simulation.seed, core, 0));
  }
  return std::make_unique<CpuCore>(std::move(setup));
}

}  // namespace lockstep
