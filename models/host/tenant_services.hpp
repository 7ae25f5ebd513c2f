#pragma once

#include <cstdint>
#include <functional>

#include "core/engine/link.hpp"
#include "models/driver/driver.hpp"
#include "models/driver/managed/managed_memory.hpp"
#include "models/fabric/fabric.hpp"
#include "models/host/kernel_log.hpp"
#include "models/noc/grid_intervals.hpp"

namespace lockstep {

/// Services that the tenants of a GPU share at the host.
class TenantServices {
 public:
  /// Dispatcher and log of launches.
  struct Launches {
    Link to_dispatcher;
    KernelLog& log;
    const std::vector<std::uint32_t>& numbers;  ///< numbers of the tenants on that GPU
    std::uint32_t gpu = 0;                      ///< number of the GPU
    /// Links to other GPUs; nullptr: none.
    const Fabric* fabric = nullptr;
    std::vector<Link> to_port;  ///< link to the port; one if there is a fabric
  };
  TenantServices(Driver::Setup driver_setup, ManagedMemory::Setup managed_setup,
                 const BufferDirectory& directory, const Launches& launches,
                 const HostParameters& parameters)
      : driver(std::move(driver_setup)),
        managed(std::move(managed_setup), driver, directory),
        to_dispatcher(launches.to_dispatcher),
        to_port(launches.to_port),
        gpu(launches.gpu),
        fabric(launches.fabric),
        launch_overhead(parameters.launch_overhead),
        collective_start(parameters.collective_start),
        kernels(launches.log),
        numbers(launches.numbers) {}

  Driver driver;
  ManagedMemory managed;
  Link to_dispatcher;
  std::vector<Link> to_port;
  const std::uint32_t gpu;
  const Fabric* const fabric;
  /// Returns the HostCycle of this part of the host for a time.
  std::function<HostCycle(Time, Outbox&)> cycle_at;
  const Time launch_overhead, collective_start;
  bool sends_bounds = true;  ///< true: launches carry the bounds of buffers
  KernelLog& kernels;
  const std::vector<std::uint32_t>& numbers;  ///< numbers of the tenants among those of all GPUs
  GridIntervals grids;                        ///< grids as the host itself counts them

  std::uint64_t next_operation() { return operations_++; }
  /// Tells the components that count by tenant that a grid begins or ends.
  void grid_begins(const GridMark& mark, const HostCycle& cycle) {
    grids.begin(mark, counts_of(mark.tenant, cycle.link, cycle.statistics));
    tell(MessageKind::grid_begins, mark, cycle);
  }
  void grid_ends(const GridMark& mark, const HostCycle& cycle) {
    grids.end(mark, counts_of(mark.tenant, cycle.link, cycle.statistics));
    tell(MessageKind::grid_ends, mark, cycle);
  }

  static GridCounts counts_of(std::uint16_t tenant, const HostLink& link,
                              const HostStatistics& statistics) {
    GridCounts counts;
    counts.bytes_to_host = link.bytes_of(tenant, false);
    counts.bytes_to_gpu = link.bytes_of(tenant, true);
    counts.far_faults = statistics.far_faults[tenant].value();
    return counts;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(driver, managed, to_dispatcher, to_port, grids, operations_);
  }

 private:
  void tell(MessageKind kind, const GridMark& mark, const HostCycle& cycle) {
    driver.mark_grid(kind, mark, cycle);
    cycle.link.send_mark(kind, mark, cycle.now, cycle.outbox);
  }

  std::uint64_t operations_ = 1;
};

}  // namespace lockstep
