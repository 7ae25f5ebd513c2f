/// Balances the number of tenants over the GPUs.
///
/// Source: own choice.
///
/// Simplified: a tenant counts as much as any other, whatever it runs.
#include <algorithm>

#include "models/gpu/placement/placement.hpp"

namespace lockstep {
namespace {

class Spread final : public TenantPlacement {
 public:
  std::uint32_t choose(std::span<const GpuLoad> gpus,
                       const TenantToPlace& /*tenant*/) const override {
    const auto has_fewer = [](const GpuLoad& a, const GpuLoad& b) { return a.tenants < b.tenants; };
    return static_cast<std::uint32_t>(std::min_element(gpus.begin(), gpus.end(), has_fewer) -
                                      gpus.begin());
  }
};

}  // namespace

PlacementRow spread_placement() {
  return {"spread", "on the GPU with fewest tenants, the first of several",
          make_placement_as<Spread>};
}

}  // namespace lockstep
