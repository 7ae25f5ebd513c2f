/// The CPU cores of a machine: one for each tenant that runs on one, linked with every partition's
/// controller and with the host.
/// Source: memory-interference.md, sections 1.1 and 4.4.
#include <algorithm>

#include "models/cpu/cpu_core.hpp"
#include "models/cpu/profile_stream.hpp"
#include "models/cpu/trace_stream.hpp"
#include "models/gpu/machine.hpp"

namespace lockstep {

void Machine::lay_out_cores(const std::vector<ComponentId>& partitions) {
  if (core_places_.count() == 0) return;
  constexpr double weight = 0.2, memory_traffic = 0.5, rare_traffic = 0.001;
  const Time memory_link = parameters_.gpu.cpu.link_latency;
  core_kind_ = graph_.add_kind("cpu");
  for (std::size_t i = 0; i < core_places_.count(); ++i)
    cores_.push_back(graph_.add_component(*core_kind_, weight));
  for (const ComponentId core : cores_) {
    std::vector<LinkId>& row = core_to_partition_.emplace_back();
    for (const ComponentId partition : partitions)
      row.push_back(graph_.connect(core, partition, memory_link, memory_traffic));
  }
  for (const ComponentId partition : partitions) {
    std::vector<LinkId>& row = partition_to_core_.emplace_back();
    for (const ComponentId core : cores_)
      row.push_back(graph_.connect(partition, core, memory_link, memory_traffic));
  }
  const Time host_link = parameters_.host.link_latency;
  for (const ComponentId core : cores_)
    core_to_host_.push_back(graph_.connect(core, host_, host_link, rare_traffic));
  for (const ComponentId core : cores_)
    host_to_core_.push_back(graph_.connect(host_, core, host_link, rare_traffic));
}

/// What a core's requests meet where nobody else is.
static MemoryTimes memory_times(const GpuParameters& gpu) {
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

std::unique_ptr<Component> Machine::build_core(std::uint32_t index) const {
  const Tenant& tenant = scenario_.tenants[core_places_.tenant(index).value()];
  const CoreMemory memory(mapping_, DramLayout(parameters_.gpu.memory.dram),
                          core_places_.base(index), core_places_.bytes(index));
  CpuCore::Setup setup{.parameters = parameters_.gpu.cpu,
                       .index = index,
                       .tenant = core_places_.tenant(index),
                       .memory = memory,
                       .stream = nullptr,
                       .arrival = tenant.arrival,
                       .measured = tenant.instructions,
                       .check = capture_,
                       .to_host = graph_.link(core_to_host_[index]),
                       .to_partitions = links(core_to_partition_[index])};
  if (tenant.cpu->trace) {
    setup.stream = std::make_unique<TraceStream>(*tenant.cpu, tenant.relaunch);
    if (setup.measured == 0) setup.measured = tenant.cpu->trace_instructions;
  } else {
    setup.stream = std::make_unique<ProfileStream>(
        tenant.cpu->traffic, parameters_.gpu.cpu.window, memory_times(parameters_.gpu), memory,
        Random(parameters_.simulation.seed, cores_[index], 0));
  }
  return std::make_unique<CpuCore>(std::move(setup));
}

}  // namespace lockstep
