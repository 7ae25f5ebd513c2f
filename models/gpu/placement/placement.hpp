#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parameters/policy.hpp"

namespace lockstep {

/// A GPU in a placement: its memory, and the needs of the tenants placed so far.
struct GpuLoad {
  std::uint64_t capacity = 0;  ///< bytes of GPU memory
  std::uint64_t taken = 0;  ///< bytes of device and managed memory, which may exceed the capacity
  std::uint32_t tenants = 0;

  /// Returns the free bytes; negative: the GPU is over-subscribed.
  std::int64_t left() const {
    return static_cast<std::int64_t>(capacity) - static_cast<std::int64_t>(taken);
  }
};

/// A tenant that names no GPU.
struct TenantToPlace {
  std::uint32_t number = 0;  ///< number in the scenario
  std::uint64_t bytes = 0;   ///< bytes of device and managed memory
  std::uint64_t seed = 0;    ///< seed of the run
};

/// Plug point `placement`: it chooses the GPU of a tenant that names none.
///
/// Contract: returns the number of one of the GPUs.  The choice depends on the arguments alone.
/// Tenants that name their GPU are counted first; the others are placed in the order of the
/// scenario.
/// Source: own choice; the names are those of cluster schedulers (bin packing, spreading).
class TenantPlacement {
 public:
  virtual ~TenantPlacement() = default;
  virtual std::uint32_t choose(std::span<const GpuLoad> gpus,
                               const TenantToPlace& tenant) const = 0;
};

using MakePlacement = std::unique_ptr<TenantPlacement> (*)(const PolicyChoice&);
using PlacementRow = PolicyRegistry<MakePlacement>::Row;
const PolicyRegistry<MakePlacement>& placements();
const PolicyList& placement_policies();
std::unique_ptr<TenantPlacement> make_placement(const PolicyChoice& choice);

template <class Policy>
std::unique_ptr<TenantPlacement> make_placement_as(const PolicyChoice& /*choice*/) {
  return std::make_unique<Policy>();
}

}  // namespace lockstep
