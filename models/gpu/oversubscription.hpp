#pragma once

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Bytes of the tenants' buffers, by place.
struct Footprint {
  std::uint64_t device = 0, managed = 0, pinned = 0;

  Footprint& operator+=(const Footprint& other) {
    device += other.device;
    managed += other.managed;
    pinned += other.pinned;
    return *this;
  }
};

/// Returns the footprint of the declared buffers and the heap, in pages of 4 KiB.
Footprint footprint_of(const Tenant& tenant);

/// Returns the capacity at which the managed memory of all tenants is the wanted multiple of the
/// memory that device memory and page tables leave for it, rounded up to a capacity that the
/// machine can have. Throws UserError if nothing is managed.
Bytes oversubscribed_capacity(const Scenario& scenario, const MachineParameters& machine);

}  // namespace lockstep
