#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/gpu/machine_parameters.hpp"
#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Places of tenants on CPU cores, and the end of GPU memory that these tenants touch: a part for
/// each, of whole stripes of DRAM rows in all channels.
class CorePlaces {
 public:
  /// No places: no tenant is on a core.
  CorePlaces() = default;
  /// Places the cores' parts before `end` of GPU memory.  Throws UserError if there are too few
  /// cores, or too little memory.
  CorePlaces(const Scenario& scenario, const MachineParameters& parameters, std::uint64_t end);

  std::size_t count() const { return tenants_.size(); }
  TenantId tenant(std::size_t core) const { return tenants_[core]; }
  PhysicalAddress base(std::size_t core) const { return bases_[core]; }
  std::uint64_t bytes(std::size_t core) const { return bytes_[core]; }
  std::optional<std::size_t> core_of(std::size_t tenant) const;
  /// Returns the bytes of GPU memory that are left before the cores' parts, in whole pages of the
  /// page manager.
  std::uint64_t bytes_before() const { return before_; }

 private:
  void take_cores(const Scenario& scenario, std::uint32_t cores);

  std::vector<TenantId> tenants_;  ///< tenant of each core
  std::vector<PhysicalAddress> bases_;
  std::vector<std::uint64_t> bytes_;
  std::uint64_t before_ = 0;
};

}  // namespace lockstep
