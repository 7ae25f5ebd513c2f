#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/engine/link.hpp"
#include "models/driver/driver.hpp"
#include "models/driver/managed/managed_memory.hpp"

namespace lockstep {

/// What a finished launch leaves in the /kernels table.
struct KernelRecord {
  std::string kernel;
  std::uint32_t grid = 0, tenant = 0, stream = 0;
  std::array<std::uint32_t, 3> blocks{}, threads{};
  Time enqueued, launched, done;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kernel, grid, tenant, stream, blocks, threads, enqueued, launched, done);
  }
};

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
  /// By grid: the next one gets their number.  A deque, for there may be millions: a vector that
  /// grows takes up to three times as much.
  std::deque<KernelRecord> kernels;

  std::uint64_t next_operation() { return operations_++; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(driver, managed, to_dispatcher, kernels, operations_);
  }

 private:
  std::uint64_t operations_ = 1;
};

}  // namespace lockstep
