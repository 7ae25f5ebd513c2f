#pragma once

#include <cstdint>

#include "core/engine/link.hpp"
#include "models/driver/driver.hpp"
#include "models/driver/managed/managed_memory.hpp"
#include "models/host/kernel_log.hpp"

namespace lockstep {

/// What the tenants of a host share.
class TenantServices {
 public:
  TenantServices(Driver::Setup driver_setup, ManagedMemory::Setup managed_setup,
                 const BufferDirectory& directory, Link dispatcher, Time launch)
      : driver(std::move(driver_setup)),
        managed(std::move(managed_setup), driver, directory),
        to_dispatcher(dispatcher),
        launch_overhead(launch) {}

  Driver driver;
  ManagedMemory managed;
  Link to_dispatcher;
  const Time launch_overhead;
  KernelLog kernels;

  std::uint64_t next_operation() { return operations_++; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(driver, managed, to_dispatcher, kernels, operations_);
  }

 private:
  std::uint64_t operations_ = 1;
};

}  // namespace lockstep
